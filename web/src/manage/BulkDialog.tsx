import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useList, useQuery } from '../cache';
import { CategoryOptions } from '../components/CategoryOptions';
import { Dialog } from '../components/Dialog';
import { Fault } from '../components/Fault';
import { control, Field } from '../components/Field';
import { licenseName } from '../components/LicenseBox';
import { newThingDefaults, ownCollections, type PublicationState, type UpdateThingsInput } from '../generated';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { tagsIn, update, type Refusal } from './bulk';
import { m } from './texts';

export type Action = 'tags' | 'category' | 'license' | 'collection' | 'visibility' | 'delete';

/** The changes that a form stands for. */
function changes(form: FormData, action: Action): Partial<UpdateThingsInput> {
  const text = (name: string) => String(form.get(name) ?? '');
  switch (action) {
    case 'tags': return { addTags: tagsIn(form.get('addTags')), removeTags: tagsIn(form.get('removeTags')) };
    case 'category': return { category: text('category') };
    case 'license': return { licenseId: text('licenseId') };
    case 'collection': return { addToCollectionIds: [text('addToCollectionIds')] };
    case 'visibility': return { state: text('state') as PublicationState, acceptUnknownLicense: form.has('acceptUnknownLicense') };
    case 'delete': return { delete: true };
  }
}

type Props = { action: Action; things: { id: string; name: string }[]; onDone: () => void; onClose: () => void };

/** A dialog for a change of several things. It stays open if some were not changed, and lists them. */
export function BulkDialog({ action, things, onDone, onClose }: Props) {
  const { busy, failure, submit, of } = useSubmission();
  const [refusals, setRefusals] = useState<Refusal[]>([]);
  const title = m.titles[action];
  if (refusals.length > 0) {
    return (
      <Dialog title={title} onClose={onClose}>
        <p role="alert">{m.notChanged(refusals.length)}</p>
        <ul class="refusals">{refusals.map(({ id, text }) => <li key={id}><b>{things.find((thing) => thing.id === id)?.name}</b>: {text}</li>)}</ul>
        <div class="actions"><button type="button" class="button primary" onClick={onClose}>{t.close}</button></div>
      </Dialog>
    );
  }
  const known = ['addTags', 'removeTags', 'category', 'licenseId', 'addToCollectionIds', 'state'];
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        void submit(async () => {
          const found = await update({ ids: things.map((thing) => thing.id), ...changes(form, action) }, onDone);
          if (found.length === 0) onClose();
          setRefusals(found);
        });
      }}>
        <p>{m.selected(things.length)}</p>
        <Fields action={action} of={of} />
        <Fault failure={failure} known={known} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>{t.cancel}</button>
          <button type="submit" class="button primary" disabled={busy}>{action === 'delete' ? t.delete : t.apply}</button>
        </div>
      </form>
    </Dialog>
  );
}

function Fields({ action, of }: { action: Action; of: (field: string) => ComponentChildren }) {
  switch (action) {
    case 'tags': return (
      <>
        <Field id="addTags" label={m.addTags} hint={t.tagsHint} fault={of('addTags')}><input {...control('addTags', of('addTags'))} autofocus /></Field>
        <Field id="removeTags" label={m.removeTags} fault={of('removeTags')}><input {...control('removeTags', of('removeTags'))} /></Field>
      </>
    );
    case 'category': return <Category fault={of('category')} />;
    case 'license': return <License fault={of('licenseId')} />;
    case 'collection': return <Collection fault={of('addToCollectionIds')} />;
    case 'visibility': return (
      <>
        <Field id="state" label={m.titles.visibility} fault={of('state')}>
          <select {...control('state', of('state'))}>{Object.entries(m.states).map(([state, name]) => <option key={state} value={state}>{name}</option>)}</select>
        </Field>
        <label class="check"><input type="checkbox" name="acceptUnknownLicense" /><span>{m.acceptUnknownLicense}</span></label>
      </>
    );
    case 'delete': return <p>{m.deleteText}</p>;
  }
}

function Category({ fault }: { fault?: ComponentChildren }) {
  const categories = useQuery(newThingDefaults, {}).data?.categories ?? [];
  return <Field id="category" label={t.category} fault={fault}><select {...control('category', fault)} required><CategoryOptions categories={categories} /></select></Field>;
}

/** A field with all licenses that a thing can get. */
export function License({ fault, id = 'licenseId' }: { fault?: ComponentChildren; id?: string }) {
  const licenses = (useQuery(newThingDefaults, {}).data?.licenses ?? []).filter((one) => one.spdxId !== 'LicenseRef-Unknown');
  return (
    <Field id={id} label={t.license} fault={fault}>
      <select {...control(id, fault)} name="licenseId" required>
        <option value="">{t.chooseLicense}</option>
        {licenses.map((one) => <option key={one.spdxId} value={one.spdxId}>{licenseName(one)}</option>)}
      </select>
    </Field>
  );
}

function Collection({ fault }: { fault?: ComponentChildren }) {
  const list = useList(ownCollections, {}, (data) => data.me?.collections);
  if (list.data && list.nodes.length === 0) return <p class="quiet">{t.noCollections}</p>;
  return (
    <Field id="addToCollectionIds" label={t.collections} fault={fault}>
      <select {...control('addToCollectionIds', fault)} required>{list.nodes.map((collection) => <option key={collection.id} value={collection.id}>{collection.name}</option>)}</select>
    </Field>
  );
}
