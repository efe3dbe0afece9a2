import { mutate, type Growing } from '../cache';
import type { EditedThing } from '../edited';
import { changeList } from '../focus';
import { deleteFile, reorderFiles, type FileRow } from '../generated';
import { pictureHint } from '../prepare';
import { t } from '../strings';
import type { useUploads } from '../uploads';
import { DropZone } from './DropZone';
import { FileFacts, fileIcon } from './FileList';
import { More } from './Grid';
import { Icon } from './Icon';
import { UploadList } from './UploadList';

type Props = { thing: EditedThing; files: Growing<FileRow>; uploads: ReturnType<typeof useUploads>; refresh: () => Promise<void> };

/** The files of a thing: they can be added, moved and deleted. */
export function FileManager({ thing, files, uploads, refresh }: Props) {
  const attempt = (action: () => Promise<unknown>) => changeList(() => action().then(refresh));
  const move = (at: number, to: number) => {
    const ids = thing.files.map((file) => file.id);
    ids.splice(to, 0, ...ids.splice(at, 1));
    void attempt(() => mutate(reorderFiles, { input: { target: { type: 'THING', id: thing.id }, fileIds: ids } }));
  };
  return (
    <section class="panel" aria-label={t.files}>
      <h2>{t.files}</h2>
      <ul class="files">
        {thing.files.map((file, index) => (
          <li key={file.id}>
            {file.thumbnail ? <img src={file.thumbnail.url} alt="" width="64" height="64" loading="lazy" /> : <span class="file-icon">{fileIcon(file)}</span>}
            <div class="file-text"><h3>{file.name}</h3><FileFacts file={file} /></div>
            <div class="file-buttons">
              <button type="button" class="button icon-only" aria-label={t.moveUp(file.name)} disabled={index === 0} onClick={() => move(index, index - 1)}><Icon name="up" /></button>
              <button type="button" class="button icon-only" aria-label={t.moveDown(file.name)} disabled={index === thing.files.length - 1} onClick={() => move(index, index + 1)}><Icon name="down" /></button>
              <button type="button" class="button icon-only" aria-label={`${t.delete}: ${file.name}`}
                onClick={() => confirm(t.deleteFile(file.name)) && attempt(() => mutate(deleteFile, { input: { id: file.id } }))}><Icon name="trash" /></button>
            </div>
          </li>
        ))}
      </ul>
      <More list={files} still />
      <UploadList tasks={uploads.tasks} onRemove={uploads.remove} onRetry={uploads.retry} />
      <DropZone label={t.uploadText} hint={pictureHint()} onFiles={uploads.add} />
    </section>
  );
}
