import { holdFocus } from '../focus';
import { bytes } from '../format';
import { t } from '../strings';
import type { Task } from '../uploads';
import { Icon } from './Icon';

/** The files that are being uploaded, with their progress. */
export function UploadList({ tasks, onRemove, onRetry }: { tasks: Task[]; onRemove: (task: Task) => void; onRetry: (task: Task) => void }) {
  if (tasks.length === 0) return null;
  return (
    <ul class="files uploads" aria-label={t.upload}>
      {tasks.map((task) => (
        <li key={task.key}>
          <span class="file-icon"><Icon name="upload" /></span>
          <div class="file-text">
            <h3>{task.file.name}</h3>
            {task.state === 'failed'
              ? <p class="fault" role="alert">{t.uploadFailed} {task.fault}</p>
              : <><progress value={task.fraction} max={1} aria-label={t.uploading(Math.round(task.fraction * 100))} /><span class="quiet" role="status">{task.fault || bytes(task.file.size)}</span></>}
          </div>
          {task.state === 'failed' && !task.isRefused && <button type="button" class="button" onClick={() => onRetry(task)}>{t.retry}</button>}
          <button type="button" class="button icon-only" aria-label={`${t.remove}: ${task.file.name}`} onClick={() => {
            holdFocus()();
            onRemove(task);
          }}><Icon name="close" /></button>
        </li>
      ))}
    </ul>
  );
}
