import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { mutate } from '../cache';
import { maxFiles } from '../files';
import { bytes } from '../format';
import { createMake, deleteImage, finalizeFiles, updateMake, uploadFile, type Picture } from '../generated';
import { Failure, persist, upload } from '../graphql';
import { pictureHint, prepared } from '../prepare';
import { t } from '../strings';
import { Dialog } from '../components/Dialog';
import { Icon } from '../components/Icon';
import { explain, say } from '../components/Toast';
import { PrintFields, printFields, printOf, type Print } from './PrintFields';

type Make = { id: string; description: string; images: Picture[]; print: Print | null; source: { id: string } | null };
type Chosen = { file: File; id: string }; // id is that of the pending upload

type Props = { thing?: { id: string }; make?: Make; file?: { id: string }; onClose?: () => void; onDone: () => void };

/** A dialog to post a make of a thing with a text, pictures and how it was printed, or to edit a make. file is the file that was printed. */
export function MakeDialog({ thing, make, file, onClose = () => undefined, onDone }: Props) {
  const [failure, setFailure] = useState<Failure>();
  const [faults, setFaults] = useState<ComponentChildren[]>([]);
  const [sent, setSent] = useState<number>();
  const [waiting, setWaiting] = useState<ComponentChildren>(); // why it waits
  const [reading, setReading] = useState(false);
  const [chosen, setChosen] = useState<Chosen[]>([]);
  const [removed, setRemoved] = useState<string[]>([]); // the IDs of pictures; the page can read the make again meanwhile
  const kept = make?.images.filter((one) => !removed.includes(one.id)) ?? [];
  const makeId = useRef(make?.id ?? ''); // a repeated attempt continues with the make that the first one created
  const running = useRef(false); // sent changes only with the next rendering, which a double click precedes
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);

  const choose = async (files: File[]) => {
    setReading(true);
    const good: Chosen[] = [];
    const bad: ComponentChildren[] = [];
    for (const file of files) {
      try {
        good.push({ file: await prepared(file), id: '' });
      } catch (error) {
        bad.push(explain(error));
      }
    }
    setChosen((before) => [...before, ...good]);
    setFaults(bad);
    setReading(false);
  };
  const post = async (description: string, print: ReturnType<typeof printOf>) => {
    const { signal } = stop.current;
    // The pictures are uploaded first, so that no make appears without them.
    const left = chosen.filter((one) => !one.id);
    for (const [index, one] of left.entries()) {
      const data = await persist(() => upload(uploadFile, { input: { file: null } }, one.file, (fraction) => {
        setSent((index + fraction) / left.length);
        setWaiting('');
      }, signal), setWaiting, signal);
      one.id = data.uploadFile!.file.id;
    }
    const patiently = <T,>(action: () => Promise<T>) => persist(action, setWaiting, signal, ['RATE_LIMITED']);
    if (makeId.current) await patiently(() => mutate(updateMake, { input: { id: makeId.current, description, print } }));
    else makeId.current = (await patiently(() => mutate(createMake, { input: { thingId: thing!.id, description, print } }))).createMake!.make.id;
    for (const id of removed) {
      await patiently(() => mutate(deleteImage, { input: { id } })).catch((error) => (error.code === 'NOT_FOUND' ? undefined : Promise.reject(error))); // it has been deleted before
    }
    if (chosen.length === 0) return;
    try {
      // Those that are added to a make have the same rank, after all others, also those that the page does not show.
      await persist(() => mutate(finalizeFiles, { input: { files: chosen.map((one, index) => ({ id: one.id, rank: make ? maxFiles : index })), target: { type: 'MAKE', id: makeId.current } } }), setWaiting);
    } catch (error) {
      if (error instanceof Failure && error.code === 'NOT_FOUND') chosen.forEach((one) => (one.id = '')); // the uploads have expired
      throw error;
    }
  };
  return (
    <Dialog title={make ? t.editMake : t.makeTitle} changed={chosen.length + removed.length > 0} onClose={onClose}>
      <form onSubmit={async (event) => {
        event.preventDefault();
        if (running.current) return;
        const data = new FormData(event.currentTarget);
        const text = String(data.get('text'));
        const print = printOf(data);
        if (!text.trim() && chosen.length + kept.length === 0 && !print) return setFaults([t.makeEmpty]);
        running.current = true;
        setSent(0);
        setFaults([]);
        setFailure(undefined);
        try {
          await post(text, print);
          onDone();
          say(make ? t.saved : t.makeSent);
          if (!stop.current.signal.aborted) onClose();
        } catch (error) {
          if (stop.current.signal.aborted) return; // the dialog was closed
          const rest = explain(error, printFields);
          setFaults(rest ? [rest] : []);
          if (error instanceof Failure) setFailure(error);
          setSent(undefined);
        } finally {
          running.current = false;
          setWaiting('');
        }
      }}>
        <div class="field">
          <span>{t.makePictures}</span>
          <div><label class="button">{t.chooseFiles}<input class="unseen" type="file" multiple accept="image/png,image/jpeg,image/gif" disabled={reading || sent !== undefined} aria-describedby="make-pictures-hint" onChange={(event) => {
            const input = event.currentTarget;
            void choose([...(input.files ?? [])]);
            input.value = '';
          }} /></label></div>
          <small id="make-pictures-hint">{pictureHint()}</small>
        </div>
        {kept.length > 0 && (
          <ul class="pictures">
            {kept.map((one) => (
              <li key={one.id}>
                {one.small ? <img src={one.small.url} alt={one.file.name} /> : <span class="file-icon"><Icon name="image" /></span>}
                <button type="button" class="button icon-only" disabled={sent !== undefined} aria-label={`${t.remove}: ${one.file.name}`} onClick={() => setRemoved([...removed, one.id])}><Icon name="close" /></button>
              </li>
            ))}
          </ul>
        )}
        {chosen.length > 0 && (
          <ul class="files">
            {chosen.map((one, index) => (
              <li key={index}>
                <span class="file-icon"><Icon name="image" /></span>
                <div class="file-text"><h3>{one.file.name}</h3><span class="quiet">{bytes(one.file.size)}</span></div>
                <button type="button" class="button icon-only" disabled={sent !== undefined} aria-label={`${t.remove}: ${one.file.name}`} onClick={() => setChosen(chosen.filter((other) => other !== one))}><Icon name="close" /></button>
              </li>
            ))}
          </ul>
        )}
        <label class="field"><span>{t.description}</span><textarea name="text" rows={5} placeholder={t.makeText} defaultValue={make?.description} /></label>
        <PrintFields thingId={thing?.id ?? make?.source?.id} print={make?.print ?? null} file={file} failure={failure} />
        {sent !== undefined && <><progress value={sent} max={1} aria-label={t.uploading(Math.round(sent * 100))} /><small role="status">{waiting}</small></>}
        {faults.length > 0 && <div class="fault" role="alert">{faults.map((fault) => <p>{fault}</p>)}</div>}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>{t.cancel}</button>
          <button type="submit" class="button primary" disabled={reading || sent !== undefined}>{make ? t.save : t.post}</button>
        </div>
      </form>
    </Dialog>
  );
}
