import { useState } from 'preact/hooks';
import { mutate, useList } from '../cache';
import { addToCollection, collectionsOfThing, createCollection, removeFromCollection } from '../generated';
import { t } from '../strings';
import { store, useSubmission } from '../submission';
import { Dialog } from './Dialog';
import { control, Field } from './Field';
import { Fault } from './Fault';
import { More } from './Grid';
import { Icon } from './Icon';
import { ErrorNotice } from './Notice';

/** A dialog to add a thing to collections of the user or to a new one. onChange is called when that is done. */
export function CollectDialog({ thing, onChange, onClose }: { thing: { id: string }; onChange: () => void; onClose: () => void }) {
  const list = useList(collectionsOfThing, { id: thing.id }, (data) => data.me?.collections);
  const [changed, setChanged] = useState<Record<string, boolean>>({});
  const { busy, failure, submit, of } = useSubmission();
  const [refused, setRefused] = useState<unknown>();
  const before = list.data?.thing?.collections.map((collection) => collection.id) ?? [];
  const has = (id: string) => changed[id] ?? before.includes(id);
  const put = async (id: string, to: boolean) => {
    const show = (value: boolean) => setChanged((others) => ({ ...others, [id]: value }));
    setRefused(undefined);
    try {
      await store(`collect ${id} ${thing.id}`, !to, to, show, (value) => mutate(value ? addToCollection : removeFromCollection, { input: { collectionId: id, thingId: thing.id } }));
    } catch (error) {
      setRefused(error);
    }
    onChange();
  };
  return (
    <Dialog title={t.collectTitle} onClose={onClose}>
      <div class="collect" aria-busy={list.loading ? 'true' : undefined}>
        {list.error && !list.data && <ErrorNotice error={list.error} retry={list.reload} />}
        {list.data && list.nodes.length === 0 && <p class="quiet">{t.noCollections}</p>}
        {list.nodes.map((collection) => (
          <label key={collection.id} class="check">
            <input type="checkbox" checked={has(collection.id)} onChange={(event) => put(collection.id, event.currentTarget.checked)} />
            <span>{collection.name}</span>
            {collection.visibility === 'PRIVATE' && <Icon name="lock" />}
          </label>
        ))}
        <More list={list} still />
      </div>
      <Fault failure={refused} />
      <form class="new-collection" onSubmit={(event) => {
        event.preventDefault();
        const element = event.currentTarget;
        const form = new FormData(element);
        void submit(async () => {
          const data = await mutate(createCollection, { input: { name: String(form.get('name')), visibility: form.get('private') ? 'PRIVATE' : 'PUBLIC' } });
          const created = data.createCollection!.collection;
          element.reset();
          list.update((nodes) => [created, ...nodes]);
          await put(created.id, true);
        });
      }}>
        <Field id="name" label={t.newCollection} fault={of('name')}><input {...control('name', of('name'))} required maxLength={200} placeholder={t.name} /></Field>
        <label class="check"><input type="checkbox" name="private" /><span>{t.makePrivate}</span></label>
        <Fault failure={failure} known={['name']} />
        <div class="actions"><button type="submit" class="button primary" disabled={busy}>{t.create}</button></div>
      </form>
    </Dialog>
  );
}
