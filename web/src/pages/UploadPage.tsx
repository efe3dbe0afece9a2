import { useRef, useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { CategoryOptions } from '../components/CategoryOptions';
import { DropZone } from '../components/DropZone';
import { Fault } from '../components/Fault';
import { control, Field } from '../components/Field';
import { ErrorNotice } from '../components/Notice';
import { createThing, newThingDefaults } from '../generated';
import { pictureHint } from '../prepare';
import { fromHere } from '../router';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { useTitle } from '../title';
import { useUnsaved } from '../unsaved';
import { handedOver } from '../uploads';

/** The page to share a thing. The first files with a category create a draft, and its edit page uploads them. */
export function UploadPage() {
  useTitle(t.uploadTitle);
  const { data, error, reload } = useQuery(newThingDefaults, {});
  const { busy, failure, submit } = useSubmission();
  const [chosen, setChosen] = useState<File[]>([]);
  const latest = useRef(chosen); // the user can choose more while the draft is created
  const [slug, setSlug] = useState('');
  const category = useRef<HTMLSelectElement>(null);
  useUnsaved(() => chosen.length > 0);
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  const start = async (more: File[]) => {
    latest.current = [...latest.current, ...more];
    setChosen(latest.current);
    const first = latest.current[0];
    if (!first) return;
    if (!slug) return category.current!.focus();
    const name = first.name.replace(/\.[^.]*$/, '').replace(/[_-]+/g, ' ').trim().slice(0, 200) || t.untitled;
    const leave = fromHere();
    await submit(async () => {
      const created = await mutate(createThing, { input: { name, licenseId: 'LicenseRef-Unknown', category: slug } });
      handedOver.set(created.createThing!.thing.id, latest.current);
      leave(`/thing:${created.createThing!.thing.id}/edit`, true);
    });
  };
  const fault = chosen.length > 0 && !slug ? t.chooseCategoryFor(chosen.length) : '';
  return (
    <div class="page narrow-page">
      <div class="page-head"><h1>{t.uploadTitle}</h1></div>
      <Field id="category" label={t.category} fault={fault}>
        <select ref={category} {...control('category', fault)} required onChange={(event) => setSlug(event.currentTarget.value)}>
          <option value="">{t.chooseCategory}</option>
          <CategoryOptions categories={data?.categories ?? []} />
        </select>
      </Field>
      {chosen.length > 0 && <p><button type="button" class="button primary" disabled={busy} onClick={() => void start([])}>{t.uploadFiles(chosen.length)}</button></p>}
      <DropZone label={t.uploadText} hint={`${t.uploadHint} ${pictureHint()}`} onFiles={(files) => void start(files)} />
      <Fault failure={failure} />
      <a href="?tab">{t.fromURL}</a>
    </div>
  );
}
