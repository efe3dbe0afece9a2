import { holdFocus } from '../focus';
import { t } from '../strings';
import { progressOf, type Task } from '../uploads';
import { Icon } from './Icon';

/** The files that are being uploaded, with their progress. */
export function UploadList({ tasks, onRemove, onRetry, onPause }: { tasks: Task[]; onRemove: (task: Task) => void; onRetry: (task: Task) => void; onPause: (task: Task) => void }) {
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
              : <><progress value={task.fraction} max={1} aria-label={t.uploading(Math.round(task.fraction * 100))} /><span class="quiet">{!task.fault && progressOf(task)}<span role="status">{task.fault || (task.state === 'paused' && ` · ${t.paused}`)}</span></span></>}
          </div>
          {task.parts && (task.state === 'sending' || task.state === 'paused') && (
            <button type="button" class="button icon-only" aria-label={`${task.state === 'paused' ? t.resume : t.pause}: ${task.file.name}`} onClick={() => (task.state === 'paused' ? onRetry(task) : onPause(task))}>
              <Icon name={task.state === 'paused' ? 'play' : 'pause'} />
            </button>
          )}
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
