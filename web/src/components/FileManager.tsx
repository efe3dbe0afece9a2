import { mutate, type Growing } from '../cache';
import type { EditedThing } from '../edited';
import { deleteFile, reorderFiles, type FileRow } from '../generated';
import { pictureHint } from '../prepare';
import { classOf } from '../pictures';
import { t } from '../strings';
import type { useUploads } from '../uploads';
import { DropZone } from './DropZone';
import { FileFacts, fileIcon } from './FileList';
import { More } from './Grid';
import { Icon } from './Icon';
import { UploadList } from './UploadList';

type Props = {
  thing: EditedThing;
  latest: { current: EditedThing }; // also between a response and the next rendering
  files: Growing<FileRow>;
  uploads: ReturnType<typeof useUploads>;
  change: (action: () => Promise<unknown>) => void; // runs changes one after the other
};

/** The files of a thing: they can be added, moved and deleted. */
export function FileManager({ thing, latest, files, uploads, change }: Props) {
  const move = (id: string, by: number) => change(async () => {
    const ids = latest.current.files.map((file) => file.id);
    const at = ids.indexOf(id);
    if (at < 0 || !(at + by in ids)) return; // an earlier change has deleted it or moved it to the end
    ids.splice(at + by, 0, ...ids.splice(at, 1));
    await mutate(reorderFiles, { input: { target: { type: 'THING', id: thing.id }, fileIds: ids } });
  });
  return (
    <section class="panel" aria-label={t.files}>
      <h2>{t.files}</h2>
      <ul class="files">
        {thing.files.map((file, index) => (
          <li key={file.id}>
            {file.thumbnail ? <img class={classOf({ isRendering: file.kind === 'MODEL' })} src={file.thumbnail.url} alt="" width="64" height="64" loading="lazy" /> : <span class="file-icon">{fileIcon(file)}</span>}
            <div class="file-text"><h3>{file.name}</h3><FileFacts file={file} /></div>
            <div class="file-buttons">
              <button type="button" class="button icon-only" aria-label={t.moveUp(file.name)} disabled={index === 0} onClick={() => move(file.id, -1)}><Icon name="up" /></button>
              <button type="button" class="button icon-only" aria-label={t.moveDown(file.name)} disabled={index === thing.files.length - 1} onClick={() => move(file.id, 1)}><Icon name="down" /></button>
              <button type="button" class="button icon-only" aria-label={`${t.delete}: ${file.name}`}
                onClick={() => confirm(t.deleteFile(file.name)) && change(() => mutate(deleteFile, { input: { id: file.id } }))}><Icon name="trash" /></button>
            </div>
          </li>
        ))}
      </ul>
      <More list={files} still />
      <UploadList tasks={uploads.tasks} onRemove={uploads.remove} onRetry={uploads.retry} onPause={uploads.pause} />
      <DropZone label={t.uploadText} hint={pictureHint()} onFiles={uploads.add} />
    </section>
  );
}
