import { useEffect } from 'preact/hooks';
import { useQuery } from '../cache';
import { FileManager } from '../components/FileManager';
import { ErrorNotice, NotFound } from '../components/Notice';
import { PictureManager } from '../components/PictureManager';
import { ThingForm } from '../components/ThingForm';
import { me } from '../config';
import type { EditedThing } from '../edited';
import { editThing, finalizeFiles, thingFiles } from '../generated';
import { send } from '../graphql';
import { useProcessing } from '../processing';
import { t } from '../strings';
import { useTitle } from '../title';
import { handedOver, useUploads } from '../uploads';

export function EditPage({ id }: { id: string }) {
  const { data, error, loading, reload, change } = useQuery(editThing, { id });
  useTitle(data?.thing ? `${t.edit}: ${data.thing.name}` : undefined);
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  if (loading || !data?.thing) return <div class="page" aria-busy="true" />;
  if (data.thing.creator.username !== me?.username) return <NotFound />;
  return <Editor thing={data.thing} change={(files) => change({ ...data, thing: { ...data.thing!, ...files } })} reload={reload} />;
}

type Files = Pick<EditedThing, 'fileCount' | 'files' | 'images'>;

function Editor({ thing, change, reload }: { thing: EditedThing; change: (files: Files) => void; reload: () => void }) {
  const refresh = async () => {
    const found = (await send(thingFiles, { id: thing.id })).thing;
    if (found) change(found);
  };
  const uploads = useUploads(async (ids) => {
    await send(finalizeFiles, { input: { files: ids.map((id, index) => ({ id, rank: thing.fileCount + index })), target: { type: 'THING', id: thing.id } } });
    await refresh();
  });
  useEffect(() => uploads.add(handedOver.splice(0)), []);

  useProcessing(thing.files, refresh);

  return (
    <div class="page edit">
      <div class="page-head"><h1>{t.editTitle}</h1></div>
      <div class="edit-columns">
        <ThingForm thing={thing} uploads={uploads.tasks} reload={reload} />
        <div>
          <FileManager thing={thing} uploads={uploads} refresh={refresh} />
          <PictureManager thing={thing} refresh={refresh} />
        </div>
      </div>
    </div>
  );
}
