import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../strings';
import { dropped } from '../dropped';
import { Icon } from './Icon';

/** An area on which files and folders can be dropped, with a button to choose files. */
export function DropZone({ label, hint, onFiles, accept, children }: { label: string; hint?: string; accept?: string; onFiles: (files: File[]) => void; children?: ComponentChildren }) {
  const [over, setOver] = useState(false);
  return (
    <div class={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void dropped(event.dataTransfer).then(onFiles);
      }}>
      <Icon name="upload" />
      <p>{label}</p>
      {hint && <p class="quiet">{hint}</p>}
      <label class="button primary">
        {t.chooseFiles}
        <input class="unseen" type="file" multiple accept={accept} onChange={(event) => {
          const input = event.currentTarget;
          onFiles([...(input.files ?? [])]);
          input.value = '';
        }} />
      </label>
      {children}
    </div>
  );
}
