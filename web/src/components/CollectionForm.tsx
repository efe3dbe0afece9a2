import { useState } from 'preact/hooks';
import { mutate } from '../cache';
import { createCollection, updateCollection } from '../generated';
import { Failure } from '../graphql';
import { t } from '../strings';
import { Dialog } from './Dialog';
import { explain } from './Toast';

type Props = { collection?: { id: string; name: string; description: string; visibility: string }; onClose: () => void; onDone: () => void };

/** Changes a collection, or creates one. */
export function CollectionForm({ collection, onClose, onDone }: Props) {
  const [failure, setFailure] = useState<unknown>();
  return (
    <Dialog title={collection ? t.edit : t.newCollection} onClose={onClose}>
      <form onSubmit={async (event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const values = { name: String(form.get('name')), description: String(form.get('description')), visibility: form.get('private') ? ('PRIVATE' as const) : ('PUBLIC' as const) };
        try {
          if (collection) await mutate(updateCollection, { input: { id: collection.id, ...values } });
          else await mutate(createCollection, { input: values });
          onDone();
          onClose();
        } catch (error) {
          setFailure(error);
        }
      }}>
        <label class="field"><span>{t.name}</span><input name="name" required maxLength={200} defaultValue={collection?.name} /></label>
        <label class="field"><span>{t.description}</span><textarea name="description" rows={4} defaultValue={collection?.description} /></label>
        <label class="check"><input type="checkbox" name="private" defaultChecked={collection?.visibility === 'PRIVATE'} /><span>{t.makePrivate}</span></label>
        {failure !== undefined && <p class="fault" role="alert">{failure instanceof Failure ? explain(failure) : String(failure)}</p>}
        <div class="actions"><button type="button" class="button" onClick={onClose}>{t.cancel}</button><button type="submit" class="button primary">{t.save}</button></div>
      </form>
    </Dialog>
  );
}
