import { useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { DropZone } from '../components/DropZone';
import { ErrorNotice } from '../components/Notice';
import { explain } from '../components/Toast';
import { createThing, newThingDefaults } from '../generated';
import { send } from '../graphql';
import { navigate } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';
import { handedOver } from '../uploads';

/** The page to share a thing. The first files create a draft, and its edit page uploads them. */
export function UploadPage() {
  useTitle(t.uploadTitle);
  const { data, error, reload } = useQuery(newThingDefaults, {});
  const [fault, setFault] = useState('');
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  const start = async (files: File[]) => {
    if (files.length === 0) return;
    const name = files[0]!.name.replace(/\.[^.]*$/, '').replace(/[_-]+/g, ' ').trim().slice(0, 200) || t.untitled;
    try {
      const { me, categories } = data ?? (await send(newThingDefaults, {})); // files can be chosen before the data is loaded
      const created = await mutate(createThing, { input: { name, license: me?.defaultLicense ?? 'CC', category: categories?.[0]?.slug ?? '' } });
      handedOver.push(...files);
      navigate(`/thing:${created.createThing!.thing.id}/edit`, true);
    } catch (failure) {
      setFault(explain(failure));
    }
  };
  return (
    <div class="page narrow-page">
      <div class="page-head"><h1>{t.uploadTitle}</h1></div>
      <DropZone label={t.uploadText} hint={t.uploadHint} onFiles={(files) => void start(files)} />
      {fault && <p class="fault" role="alert">{fault}</p>}
    </div>
  );
}
