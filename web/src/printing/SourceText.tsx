import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../components/Dialog';
import { bytes } from '../format';
import type { FileRow } from '../generated';
import { t } from '../strings';
import { p } from './texts';

const most = 512 * 1024; // bytes

/** A dialog with the text of a file, such as the source of an OpenSCAD model. */
export function SourceText({ file, onClose }: { file: FileRow; onClose?: () => void }) {
  const [text, setText] = useState<string>();
  const [failed, setFailed] = useState(false);
  const tooLarge = Number(file.size) > most;
  useEffect(() => {
    if (tooLarge) return;
    fetch(file.directUrl ?? file.publicUrl).then(async (response) => {
      if (!response.ok) throw new Error(response.statusText);
      setText(await response.text());
    }).catch(() => setFailed(true));
  }, []);
  return (
    <Dialog title={file.name} onClose={() => onClose?.()}>
      {tooLarge ? <p>{p.textTooLarge(bytes(most))}</p>
        : failed ? <p role="alert">{p.textFailed}</p>
        : text === undefined ? <p aria-busy="true">{t.loading}</p>
        : <pre class="source" tabIndex={0}>{text}</pre>}
    </Dialog>
  );
}
