import { useState } from 'preact/hooks';
import { mutate } from '../cache';
import { createMake, finalizeFiles, uploadFile } from '../generated';
import { persist, upload } from '../graphql';
import { t } from '../strings';
import { Dialog } from './Dialog';
import { explain } from './Toast';

/** A dialog to post a make of a thing with a text and pictures. */
export function MakeDialog({ thing, onClose, onDone }: { thing: { id: string; name: string }; onClose: () => void; onDone: () => void }) {
  const [fault, setFault] = useState('');
  const [sent, setSent] = useState<number>();
  const post = async (form: FormData) => {
    const files = form.getAll('pictures').filter((one): one is File => one instanceof File && one.size > 0);
    const ids: string[] = [];
    // The pictures are uploaded first, so that no make appears without them.
    for (const [index, file] of files.entries()) {
      const data = await persist(() => upload(uploadFile, { input: { file: null } }, file, (fraction) => setSent((index + fraction) / files.length), new AbortController().signal));
      ids.push(data.uploadFile!.file.id);
    }
    const make = (await mutate(createMake, { input: { thingId: thing.id, description: String(form.get('text')) } })).createMake!.make;
    if (ids.length > 0) await persist(() => mutate(finalizeFiles, { input: { files: ids.map((id) => ({ id })), target: { type: 'MAKE', id: make.id } } }));
  };
  return (
    <Dialog title={t.makeTitle} onClose={onClose}>
      <form onSubmit={async (event) => {
        event.preventDefault();
        setSent(0);
        try {
          await post(new FormData(event.currentTarget));
          onDone();
          onClose();
        } catch (error) {
          setFault(explain(error));
          setSent(undefined);
        }
      }}>
        <label class="field"><span>{t.makePictures}</span><input type="file" name="pictures" multiple accept="image/png,image/jpeg,image/gif" /></label>
        <label class="field"><span>{t.description}</span><textarea name="text" rows={5} placeholder={t.makeText} /></label>
        {sent !== undefined && <progress value={sent} max={1} aria-label={t.uploading(Math.round(sent * 100))} />}
        {fault && <p class="fault" role="alert">{fault}</p>}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>{t.cancel}</button>
          <button type="submit" class="button primary" disabled={sent !== undefined}>{t.post}</button>
        </div>
      </form>
    </Dialog>
  );
}
