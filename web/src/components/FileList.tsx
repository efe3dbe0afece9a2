import { useState } from 'preact/hooks';
import { me } from '../config';
import { bytes, millimeters } from '../format';
import { recordDownload, type FileRow, type NoPreviewReason } from '../generated';
import { send } from '../graphql';
import { classOf } from '../pictures';
import { t } from '../strings';
import { OnDemand } from '../ondemand';
import { openDownload } from '../unsaved';
import { Icon } from './Icon';
import { say } from './Toast';

/** Downloads a file. A download by a signed-in user is recorded in their history. */
async function download(file: FileRow) {
  try {
    openDownload((await send(recordDownload, { input: { fileId: file.id } })).recordDownload!.url);
  } catch (error) {
    say(error);
  }
}

export function fileIcon(file: { kind: FileRow['kind'] }) {
  return <Icon name={file.kind === 'MODEL' ? 'cube' : file.kind === 'IMAGE' ? 'image' : 'file'} />;
}

// The reasons of which the message of the server, which is in English, says no more.
const complete: (NoPreviewReason | null)[] = ['MISSING', 'CRASHED', 'INTERRUPTED'];

/** Why a file has no preview. */
export function NoPreview({ reason, error }: Pick<FileRow['processing'], 'reason' | 'error'>) {
  return <>{t.processingFailed}{reason && `: ${t.noPreviewReasons[reason]}`}{error && !complete.includes(reason) && <>{reason ? ' ' : ': '}<span lang="en">{error}</span></>}</>;
}

/** The known properties of a file, such as its size and the size of its model. */
export function FileFacts({ file }: { file: FileRow }) {
  const { mesh, processing } = file;
  return (
    <ul class="facts">
      <li>{bytes(file.size)}</li>
      {mesh && <li>{millimeters(mesh.size)}</li>}
      {mesh && <li>{t.triangles(mesh.triangles)}</li>}
      {mesh && mesh.triangles > 0 && <li class={mesh.watertight ? 'good' : 'bad'}>{mesh.watertight ? t.watertight : t.notWatertight}</li>}
      {(processing.state === 'WAITING' || processing.state === 'RUNNING') && <li>{t.processing}</li>}
      {processing.state === 'FAILED' && <li class="bad"><NoPreview {...processing} /></li>}
      {processing.state === 'NOT_APPLICABLE' && processing.reason && <li><NoPreview {...processing} /></li>}
      {!file.isAvailable && <li class="bad">{t.unavailable}</li>}
    </ul>
  );
}

// The names of files in which slicers write settings, of those that are text for people, and of those that slicers open.
const slicedName = /\.(3mf|gcode|gco|g|bgcode)$/i;
const textName = /\.(scad|csg|md|markdown|txt)$/i;
const openedName = /\.(3mf|amf|dae|g|gco|gcode|glb|gltf|lys|obj|ply|step|stl|stp|x3d)$/i;

/** A button that opens a file in the program that the visitor has chosen last, and one for all programs. */
function OpenInButton({ file }: { file: FileRow }) {
  const last = localStorage.getItem('open-in');
  const [part, setPart] = useState<'' | 'last' | 'menu'>('');
  const button = (direct: boolean) => (
    <OnDemand part={(parts) => parts.OpenIn} file={file} direct={direct} replaced onShow={() => setPart(direct ? 'last' : 'menu')}
      label={`${direct ? t.openIn(last!) : t.openWith}: ${file.name}`}>
      {direct ? t.openIn(last!) : <>{!last && t.openWith}<Icon name="down" /></>}
    </OnDemand>
  );
  return <span class="split">{last && part !== 'menu' && button(true)}{part !== 'last' && button(false)}</span>;
}

interface Shown { thing: { id: string }; takenDown: boolean; onView: (id: string) => void; onMake: () => void }

function FileItem({ file, thing, takenDown, onView, onMake }: Shown & { file: FileRow }) {
  return (
    <li>
      {file.thumbnail ? <img class={classOf({ isRendering: file.kind === 'MODEL' })} src={file.thumbnail.url} alt="" width="64" height="64" loading="lazy" /> : <span class="file-icon">{fileIcon(file)}</span>}
      <div class="file-text">
        <h3>{file.name}</h3>
        <FileFacts file={file} />
        {file.note && <p class="quiet">{file.note}</p>}
      </div>
      {file.mesh && <button type="button" class="button icon-only" aria-label={`${t.view3D}: ${file.name}`} title={t.view3D} onClick={() => onView(file.id)}><Icon name="cube" /></button>}
      {slicedName.test(file.name) && file.kind === 'MODEL' && file.isAvailable && (
        <OnDemand part={(parts) => parts.PrintDetails} file={file} kind="button icon-only" label={`${t.printDetails}: ${file.name}`} title={t.printDetails}><Icon name="sliders" /></OnDemand>
      )}
      {textName.test(file.name) && file.isAvailable && (
        <OnDemand part={(parts) => parts.SourceText} file={file} kind="button icon-only" label={`${t.showText}: ${file.name}`} title={t.showText}><Icon name="file" /></OnDemand>
      )}
      {me && file.kind === 'MODEL' && !takenDown && (
        <OnDemand part={(parts) => parts.MakeDialog} thing={thing} file={file} onDone={onMake} kind="button icon-only" label={`${t.printedThis}: ${file.name}`} title={t.printedThis}><Icon name="check" /></OnDemand>
      )}
      {openedName.test(file.name) && file.kind === 'MODEL' && file.isAvailable && !takenDown && <OpenInButton file={file} />}
      {file.isAvailable && (
        <a class="button" href={takenDown ? (file.directUrl ?? '') : file.publicUrl} download aria-label={`${t.download}: ${file.name}`} onClick={(event) => {
          if (!me || takenDown) return;
          event.preventDefault();
          void download(file);
        }}><Icon name="download" /><span class="wide-only">{t.download}</span></a>
      )}
    </li>
  );
}

/** The files in a folder, and the folders in it. A folder begins at an offset in the paths. */
function Folder({ files, start, open, ...shown }: Shown & { files: FileRow[]; start: number; open: boolean }) {
  const here: FileRow[] = [];
  const folders = new Map<string, FileRow[]>();
  for (const file of files) {
    const end = file.path.indexOf('/', start);
    if (end < 0) here.push(file);
    else folders.set(file.path.slice(start, end), [...(folders.get(file.path.slice(start, end)) ?? []), file]);
  }
  return (
    <ul class="files">
      {here.map((file) => <FileItem key={file.id} file={file} {...shown} />)}
      {[...folders].map(([name, inside]) => (
        <li key={`/${name}`} class="folder">
          <details open={open}>
            <summary><Icon name="folder" /> <span>{name}</span> <small>{inside.length}</small></summary>
            <Folder files={inside} start={start + name.length + 1} open={open} {...shown} />
          </details>
        </li>
      ))}
    </ul>
  );
}

const openFiles = 30; // at most this many files are shown with open folders

/** The files of a thing, in its folders. Downloads of a thing that is taken down are not recorded: its creator and moderators use the direct URLs. */
export function FileList({ files, ...shown }: Shown & { files: FileRow[] }) {
  if (files.length === 0) return <p class="quiet">{t.noFiles}</p>;
  return (
    <>
      <h2 class="unseen">{t.files}</h2>
      <Folder files={files} start={0} open={files.length <= openFiles} {...shown} />
    </>
  );
}
