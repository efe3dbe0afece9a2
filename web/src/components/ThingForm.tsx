import { useRef, useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { changed, only } from '../changed';
import { isStaff } from '../config';
import type { EditedThing } from '../edited';
import { useFaultFocus } from '../focus';
import { deleteThing, newThingDefaults, publishThing, unpublishThing, updateThing, type PrintChoice, type UpdateThingInput } from '../generated';
import { concerns, Failure, messageOf } from '../graphql';
import { fromHere, href } from '../router';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { useUnsaved } from '../unsaved';
import type { Task } from '../uploads';
import { AncestorField, type Ancestor } from './AncestorField';
import { CategoryOptions } from './CategoryOptions';
import { Fault } from './Fault';
import { control, Field, initially } from './Field';
import { Icon } from './Icon';
import { licenseName } from './LicenseBox';
import { Menu } from './Menu';
import { say } from './Toast';

const origins = ['creator', 'creatorUrl', 'url', 'site'] as const;
const unknownLicense = 'LicenseRef-Unknown';
const texts = ['printer', 'resolution', 'infill', 'filamentMaterial', 'filamentBrand', 'filamentColor'] as const;
const choices = ['rafts', 'supports'] as const;
const marks = ['isWip', 'isNsfw', 'isAiGenerated', 'isRemix'] as const;
const markNames = { isWip: t.wip, isNsfw: t.nsfw, isAiGenerated: t.aiGenerated, isRemix: t.isRemix };

/** The values of the form that the user changed, as the input of updateThing. */
function read(element: HTMLFormElement, id: string): UpdateThingInput {
  const form = new FormData(element);
  const names = changed(element);
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const choice = (name: string) => (text(name) || null) as PrintChoice | null;
  const settings = Object.fromEntries([...texts.map((name) => [name, text(name) || null]), ...choices.map((name) => [name, choice(name)])]);
  if (Object.keys(settings).some((name) => names.has(name))) names.add('printSettings');
  if (origins.some((name) => names.has(`origin.${name}`))) names.add('origin');
  return { id, ...only({
    name: text('name'), description: text('description'), instructions: text('instructions'), category: text('category') || undefined, licenseId: text('licenseId'), origin: Object.fromEntries(origins.map((name) => [name, text(`origin.${name}`)])),
    tags: text('tags').split(',').map((tag) => tag.trim().replace(/^#+\s*/, '')).filter(Boolean),
    ...Object.fromEntries(marks.map((mark) => [mark, form.has(mark)])),
    printSettings: Object.values(settings).some((value) => value !== null) ? settings : null,
  }, names) };
}

/** The texts and properties of a thing, and its publication. The uploads are shown beside the buttons, because a phone shows their list far below. */
export function ThingForm({ thing, uploads, reload }: { thing: EditedThing; uploads: Task[]; reload: () => void }) {
  const defaults = useQuery(newThingDefaults, {}).data;
  const categories = defaults?.categories ?? [];
  const licenses = (defaults?.licenses ?? []).filter((one) => one.spdxId !== unknownLicense);
  const form = useRef<HTMLFormElement>(null);
  const [ancestors, setAncestors] = useState<Ancestor[]>(); // undefined: not changed
  const [dirty, setDirty] = useState(false);
  const { busy, failure: cause, submit, of } = useSubmission();
  const failure = cause instanceof Failure ? cause : undefined;
  const locked = thing.takedown !== null && !isStaff; // until a moderator restores it, its creator cannot change it
  useUnsaved(() => dirty);
  useFaultFocus(form, failure);
  // Errors about requirements of publication can have the thing as their field, not an input of the form.
  const others = failure?.faults.filter((fault) => ![...(form.current?.elements ?? [])].some((element) => concerns(fault, (element as HTMLInputElement).name))) ?? [];

  const attempt = (action: () => Promise<unknown>) => submit(async () => {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof Failure) || error.faults.length === 0) say(error);
      throw error;
    } finally {
      reload(); // a part of the action may have succeeded
    }
  });
  const edits = useRef(0);
  const save = async () => {
    const before = edits.current;
    await mutate(updateThing, { input: { ...read(form.current!, thing.id), ...(ancestors && { ancestorIds: ancestors.map((one) => one.id) }) } });
    if (edits.current === before) setDirty(false);
  };
  const publish = (state: 'PUBLISHED' | 'UNLISTED') => async () => {
    const leave = fromHere();
    const done = await attempt(async () => {
      await save();
      await mutate(publishThing, { input: { id: thing.id, state } }).catch((error) => {
        const faults = error instanceof Failure ? error.faults : [];
        // The owner decides whether a thing of an unknown license is public.
        if (faults.length !== 1 || faults[0]!.code !== 'LICENSE_REQUIRED' || !confirm(t.publishUnknown)) throw error;
        return mutate(publishThing, { input: { id: thing.id, state, acceptUnknownLicense: true } });
      });
    });
    if (done) leave(`/thing:${thing.id}`);
  };
  const select = (name: string, value: string, options: [string, string][]) => (
    <select {...control(name, of(name))}>{options.map(([key, text]) => <option key={key} value={key} {...initially(key === value)}>{text}</option>)}</select>
  );
  return (
    <form ref={form} class="thing-form" noValidate onInput={() => {
      edits.current++;
      setDirty(true);
    }} onSubmit={(event) => {
      event.preventDefault();
      void attempt(save).then((done) => done && say(t.saved));
    }}>
      {thing.takedown && <p class="warning">{t.takenDown} {thing.takedown.reason}{locked && <><br />{t.takenDownLocked}</>}</p>}
      <Field id="name" label={t.name} fault={of('name')}><input {...control('name', of('name'))} defaultValue={thing.name} maxLength={200} required /></Field>
      <Field id="description" label={t.description} hint={t.markdownHint} fault={of('description')}>
        <textarea {...control('description', of('description'))} rows={8} defaultValue={thing.description} />
      </Field>
      <div class="two">
        <Field id="category" label={t.category} fault={of('category')}>
          <select {...control('category', of('category'))} key={categories.length}>
            <CategoryOptions categories={categories} chosen={thing.category.slug} />
          </select>
        </Field>
        <Field id="licenseId" label={t.license} fault={of('licenseId')}>
          <select {...control('licenseId', of('licenseId'))} key={licenses.length}>
            {/* Without the list, the license of the thing stays chosen, and saving does not change it. */}
            {licenses.length === 0 && <option value={thing.licenseInfo.spdxId} selected>{thing.licenseInfo.spdxId}</option>}
            <option value={unknownLicense}>{t.chooseLicense}</option>
            {licenses.map((one) => <option key={one.spdxId} value={one.spdxId} {...initially(one.spdxId === thing.licenseInfo.spdxId)}>{licenseName(one)}</option>)}
          </select>
        </Field>
      </div>
      <Field id="tags" label={t.tags} hint={t.tagsHint} fault={of('tags')}><input {...control('tags', of('tags'))} defaultValue={thing.tags.map((tag) => tag.name).join(', ')} /></Field>
      <details class="panel">
        <summary>{t.instructions}</summary>
        <Field id="instructions" label={t.instructions} hint={t.markdownHint} fault={of('instructions')}><textarea {...control('instructions', of('instructions'))} rows={6} defaultValue={thing.instructions} /></Field>
      </details>
      <details class="panel" open={thing.origin !== null}>
        <summary>{t.origin}</summary>
        <p class="quiet">{t.originHint}</p>
        <div class="two">
          {origins.map((name) => <Field key={name} id={`origin.${name}`} label={t.origins[name]} fault={of(name)}><input {...control(`origin.${name}`, of(name))} type={name.endsWith('rl') ? 'url' : 'text'} defaultValue={thing.origin?.[name] ?? ''} maxLength={name.endsWith('rl') ? 2000 : 200} /></Field>)}
        </div>
      </details>
      <details class="panel">
        <summary>{t.printSettings}</summary>
        <div class="two">
          {texts.map((name) => <Field key={name} id={name} label={t.print[name]} fault={of(name)}><input {...control(name, of(name))} defaultValue={thing.printSettings?.[name] ?? ''} maxLength={200} /></Field>)}
          {choices.map((name) => <Field key={name} id={name} label={t.print[name]} fault={of(name)}>{select(name, thing.printSettings?.[name] ?? '', [['', '–'], ...(Object.entries(t.choices))])}</Field>)}
        </div>
      </details>
      <fieldset class="field">
        <legend>{t.marks}</legend>
        {marks.map((mark) => (
          <label key={mark} class="check"><input type="checkbox" name={mark} defaultChecked={mark === 'isRemix' ? thing.isDerivative : thing[mark]} /><span>{markNames[mark]}</span></label>
        ))}
      </fieldset>
      <AncestorField id={thing.id} chosen={ancestors ?? thing.ancestors.nodes} fault={of('ancestorIds')} onChange={(chosen) => {
        setAncestors(chosen);
        edits.current++;
        setDirty(true);
      }} />
      {failure && others.length > 0 && <div class="fault" role="alert"><p>{t.publishFaults}</p><ul>{others.map((fault) => <li key={fault.message}>{messageOf(fault)}</li>)}</ul></div>}
      {failure?.faults.length === 0 && <Fault failure={failure} />}
      <div class="publish-bar">
        <span class="badge">{thing.takedown ? t.takenDownBadge : thing.state === 'DRAFT' ? t.draft : thing.state === 'UNLISTED' ? t.unlisted : t.published}</span>
        {dirty && <span class="quiet">{t.unsaved}</span>}
        {uploads.length > 0 && <span class="quiet">{uploads.some((task) => task.state === 'failed') ? t.uploadFailed : t.uploadsLeft(uploads.length)}</span>}
        <span class="spacer" />
        {!locked && <Menu label={t.more} button={<Icon name="more" />} kind="button icon-only">
          {!thing.takedown && (thing.state === 'DRAFT'
            ? <button type="button" onClick={publish('UNLISTED')}><Icon name="eye" />{t.publishUnlisted}</button>
            : <button type="button" onClick={() => void attempt(() => mutate(unpublishThing, { input: { id: thing.id } })).then((done) => done && say(t.saved))}><Icon name="lock" />{t.unpublish}</button>)}
          <button type="button" onClick={() => confirm(t.deleteThing) && void attempt(async () => {
            const leave = fromHere();
            await mutate(deleteThing, { input: { id: thing.id } });
            leave(`/${thing.creator.username}`, true);
            say(t.deleted);
          })}><Icon name="trash" />{t.delete}</button>
        </Menu>}
        <a class="button" href={href(`/thing:${thing.id}`)} aria-label={t.view} title={t.view}><Icon name="eye" /><span class="wide-only">{t.view}</span></a>
        <button type="submit" class="button" disabled={busy || locked}>{t.save}</button>
        {thing.state !== 'PUBLISHED' && !thing.takedown && <button type="button" class="button primary" disabled={busy} onClick={publish('PUBLISHED')}>{t.publish}</button>}
      </div>
    </form>
  );
}
