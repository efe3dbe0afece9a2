import { useRef, useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { CategoryOptions } from '../components/CategoryOptions';
import { DropZone } from '../components/DropZone';
import { Fault } from '../components/Fault';
import { control, Field } from '../components/Field';
import { ErrorNotice } from '../components/Notice';
import { createThing, newThingDefaults } from '../generated';
import { pictureHint } from '../prepare';
import { navigate } from '../router';
import { t } from '../strings';
import { useSubmission } from '../submission';
import { useTitle } from '../title';
import { handedOver } from '../uploads';

/** The page to share a thing. The first files with a category create a draft, and its edit page uploads them. */
export function UploadPage() {
  useTitle(t.uploadTitle);
  const { data, error, reload } = useQuery(newThingDefaults, {});
  const { failure, submit } = useSubmission();
  const [unsorted, setUnsorted] = useState<File[]>([]); // files that were chosen before the category
  const category = useRef<HTMLSelectElement>(null);
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  const start = async (files: File[]) => {
    if (files.length === 0) return;
    const slug = category.current!.value;
    if (!slug) {
      setUnsorted([...unsorted, ...files]);
      category.current!.focus();
      return;
    }
    const name = files[0]!.name.replace(/\.[^.]*$/, '').replace(/[_-]+/g, ' ').trim().slice(0, 200) || t.untitled;
    await submit(async () => {
      const created = await mutate(createThing, { input: { name, license: data?.me?.defaultLicense ?? 'CC', category: slug } });
      handedOver.push(...files);
      navigate(`/thing:${created.createThing!.thing.id}/edit`, true);
    });
  };
  return (
    <div class="page narrow-page">
      <div class="page-head"><h1>{t.uploadTitle}</h1></div>
      <Field id="category" label={t.category} fault={unsorted.length > 0 ? t.chooseCategoryFor(unsorted.length) : ''}>
        <select ref={category} {...control('category', unsorted.length > 0 ? t.chooseCategory : '')} required onChange={() => {
          setUnsorted([]);
          void start(unsorted);
        }}>
          <option value="">{t.chooseCategory}</option>
          <CategoryOptions categories={data?.categories ?? []} />
        </select>
      </Field>
      <DropZone label={t.uploadText} hint={`${t.uploadHint} ${pictureHint()}`} onFiles={(files) => void start(files)} />
      <Fault failure={failure} />
    </div>
  );
}
