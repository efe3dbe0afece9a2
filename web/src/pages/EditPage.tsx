import { useEffect } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { FileManager } from '../components/FileManager';
import { ErrorNotice, NotFound } from '../components/Notice';
import { PictureManager } from '../components/PictureManager';
import { ThingForm } from '../components/ThingForm';
import type { EditedThing } from '../edited';
import { rankAfter, useFiles } from '../files';
import { changeList } from '../focus';
import { editThing, finalizeFiles } from '../generated';
import { useProcessing } from '../processing';
import { t } from '../strings';
import { useQueue } from '../submission';
import { useTitle } from '../title';
import { handedOver, useUploads } from '../uploads';

export function EditPage({ id }: { id: string }) {
  const { data, error, loading, reload } = useQuery(editThing, { id });
  useTitle(data?.thing ? `${t.edit}: ${data.thing.name}` : undefined);
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  if (loading || !data?.thing) return <div class="page" aria-busy="true" />;
  if (!data.thing.creator.isViewer) return <NotFound />;
  return <Editor read={data.thing} reload={reload} />;
}

function Editor({ read, reload }: { read: EditedThing; reload: () => void }) {
  const { thing, shown, refresh, files, pictures } = useFiles(read);
  const queue = useQueue();
  const change = (action: () => Promise<unknown>) => void changeList(() => queue(() => action().then(refresh)));
  const uploads = useUploads(thing.id, async (ids) => {
    const first = rankAfter(shown.current);
    await mutate(finalizeFiles, { input: { files: ids.map((id, index) => ({ id, rank: first + index })), target: { type: 'THING', id: thing.id } } });
    await refresh();
  });
  useEffect(() => {
    uploads.add(handedOver.get(thing.id) ?? []);
    handedOver.delete(thing.id);
  }, []);

  useProcessing(thing.files, refresh);

  return (
    <div class="page edit">
      <div class="page-head"><h1>{t.editTitle}</h1></div>
      <div class="edit-columns">
        <ThingForm thing={thing} uploads={uploads.tasks} reload={reload} />
        <div>
          <FileManager thing={thing} latest={shown} files={files} uploads={uploads} change={change} />
          <PictureManager thing={thing} pictures={pictures} change={change} />
        </div>
      </div>
    </div>
  );
}
