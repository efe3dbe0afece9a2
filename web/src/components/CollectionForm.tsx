import { mutate } from '../cache';
import { changed, only } from '../changed';
import { createCollection, updateCollection } from '../generated';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { Dialog } from './Dialog';
import { Fault } from './Fault';
import { control, Field } from './Field';

type Props = { collection?: { id: string; name: string; description: string; visibility: string }; onClose: () => void; onDone: () => void };

/** Changes a collection, or creates one. */
export function CollectionForm({ collection, onClose, onDone }: Props) {
  const { busy, failure, submit, of } = useSubmission();
  return (
    <Dialog title={collection ? t.edit : t.newCollection} onClose={onClose}>
      <form onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const names = changed(event.currentTarget);
        const values = { name: String(form.get('name')), description: String(form.get('description')), visibility: form.get('visibility') ? ('PRIVATE' as const) : ('PUBLIC' as const) };
        void submit(async () => {
          if (collection) await mutate(updateCollection, { input: { id: collection.id, ...only(values, names) } });
          else await mutate(createCollection, { input: values });
          onDone();
          onClose();
        });
      }}>
        <Field id="name" label={t.name} fault={of('name')}><input {...control('name', of('name'))} required maxLength={200} defaultValue={collection?.name} autofocus /></Field>
        <Field id="description" label={t.description} fault={of('description')}><textarea {...control('description', of('description'))} rows={4} defaultValue={collection?.description} /></Field>
        <label class="check"><input type="checkbox" name="visibility" defaultChecked={collection?.visibility === 'PRIVATE'} /><span>{t.makePrivate}</span></label>
        <Fault failure={failure} known={['name', 'description']} />
        <div class="actions"><button type="button" class="button" onClick={onClose}>{t.cancel}</button><button type="submit" class="button primary" disabled={busy}>{t.save}</button></div>
      </form>
    </Dialog>
  );
}
