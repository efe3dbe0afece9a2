// Uploads of files, a few at a time, with their progress. Requests that fail because the server is unreachable or busy are retried. Small files are
// sent in one request, and others in parts, see resumable.ts.
import type { ComponentChildren } from 'preact';
import { useEffect, useReducer, useRef } from 'preact/hooks';
import { explain } from './components/Toast';
import { base, me } from './config';
import { bytes, duration } from './format';
import { uploadFile } from './generated';
import { Failure, headers, isTransient, persist, refusal, upload } from './graphql';
import { prepared } from './prepare';
import type { Refused, Resumable } from './resumable';
import { t } from './strings';
import { useUnsaved } from './unsaved';

const atOnce = 3;
const maxWhole = 8 << 20; // bytes of a file that is sent in one request
const firstLimit = 32 << 20; // of a part, in bytes
const maxBatch = 10; // uploads that are finalized together
const refusals = ['BAD_FILE', 'BAD_USER_INPUT', 'TOO_LARGE', 'PROXY_LIMIT', 'UNREADABLE']; // errors of a file that remain when it is sent again

export type Task = {
  key: number; file: File; state: 'waiting' | 'sending' | 'paused' | 'sent' | 'failed'; fault: ComponentChildren; stop: AbortController; id: string; isRefused?: boolean;
  fraction: number;
  measured?: { at: number; sent: number; rate: number }; // bytes per second
  parts?: Resumable;
};

let keys = 0;

// What the proxy in front of the server accepts in a request, as far as it is known.
let limit = 0;
const partLimit = () => limit || Number(localStorage.getItem('upload-part')) || firstLimit;
function learn(bytes: number) {
  limit = Math.min(Math.max(bytes, 1 << 18), partLimit());
  localStorage.setItem('upload-part', String(limit));
}

declare const RESUMABLE: string; // the path of the script of resumable.ts, which the build inserts
let loads = 0;
/** Loads the script. The URL differs for each attempt, because browsers remember a failure. */
const load = (): Promise<typeof import('./resumable')> => import(new URL(`../${RESUMABLE}${loads++ ? `?${loads}` : ''}`, import.meta.url).href).catch(() => {
  throw new Failure('', 'OFFLINE');
});

/** How much of a file has been sent, how fast, and how long the rest takes. */
export function progressOf({ file, fraction, measured }: Task): string {
  if (!fraction) return bytes(file.size);
  const rate = measured?.rate;
  const sent = t.sentOf(bytes(fraction * file.size), bytes(file.size));
  return rate ? `${sent} · ${t.speed(bytes(rate), duration((1 - fraction) * file.size / rate))}` : sent;
}

/** Notes how much of a file has been sent. The rate changes slowly, and once a second. */
function note(task: Task, sent: number) {
  task.fraction = sent / task.file.size;
  task.fault = '';
  const now = Date.now();
  const before = (task.measured ??= { at: now, sent, rate: 0 });
  if (now - before.at < 1000) return;
  const rate = Math.max(sent - before.sent, 0) / (now - before.at) * 1000;
  task.measured = { at: now, sent, rate: before.rate ? 0.7 * before.rate + 0.3 * rate : rate };
}

/** Throws a Failure if the browser cannot read a file, which it would report like a server that is not reachable. */
async function readable(file: File) {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    throw new Failure('', 'UNREADABLE');
  }
}

/** Files that were chosen on the upload page, by the ID of the thing that was created for them. Its edit page uploads them. */
export const handedOver = new Map<string, File[]>();

/** Uploads of a component, to the thing with an ID. finish is called with the ids of pending uploads, one call after the other. */
export function useUploads(thing: string, finish: (ids: string[]) => Promise<void>) {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const tasks = useRef<Task[]>([]);
  const finishing = useRef(false);
  const latest = useRef(finish);
  latest.current = finish;
  const update = () => render(0);
  const inState = (...states: Task['state'][]) => tasks.current.filter((task) => states.includes(task.state));

  const fail = (task: Task, error: unknown) => {
    task.state = 'failed';
    task.fault = explain(error);
  };
  const waits = (waiting: Task[]) => (why: ComponentChildren) => {
    for (const task of waiting) task.fault = why;
    update();
  };
  const whole = async (task: Task) => {
    const data = await persist(() => upload(uploadFile, { input: { file: null } }, task.file, (fraction) => {
      note(task, fraction * task.file.size);
      update();
    }, task.stop.signal), waits([task]), task.stop.signal);
    return data.uploadFile!.file.id;
  };
  const inParts = async (task: Task) => {
    const { signal } = task.stop;
    const again = <T>(action: () => Promise<T>) => persist(action, waits([task]), signal);
    task.parts ??= await (await again(load)).resumable(task.file, {
      endpoint: `${base}/files/0/tus`, headers, of: `${me?.id}-${thing}`, limit: partLimit, learn,
      progress(sent) {
        note(task, sent);
        update();
      },
    });
    const parts = task.parts;
    signal.addEventListener('abort', () => parts.stop(false));
    // Attempts after some progress count from the start.
    for (let before = -1; ; before = task.fraction) {
      try {
        return await again(() => parts.send().catch((error: Refused) => {
          throw refusal(error.status, error.text, error.retryAfter);
        }));
      } catch (error) {
        if (signal.aborted || !isTransient(error) || task.fraction <= before) throw error;
      }
    }
  };
  const send = async (task: Task) => {
    const { size } = task.file;
    if (task.parts || size > Math.min(maxWhole, partLimit())) return inParts(task);
    try {
      return await whole(task);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'PROXY_LIMIT') throw error;
      learn(size / 2);
      return inParts(task);
    }
  };
  const run = async (task: Task) => {
    const { signal } = task.stop;
    Object.assign(task, { state: 'sending', measured: undefined });
    update();
    try {
      task.file = await prepared(task.file);
      await readable(task.file);
      if (signal.aborted) throw new Failure('', 'ABORTED');
      task.id = await send(task);
      Object.assign(task, { state: 'sent', fault: '' });
    } catch (error) {
      if (signal.aborted) return next(); // paused or removed
      fail(task, error);
      task.isRefused = error instanceof Failure && refusals.includes(error.code);
    }
    update();
    next();
  };
  // Files are finalized together, so that many small files need few requests.
  const finishSent = async () => {
    const sent = inState('sent').slice(0, maxBatch);
    if (finishing.current || sent.length === 0 || (sent.length < maxBatch && inState('waiting', 'sending').length > 0)) return;
    finishing.current = true;
    try {
      // It can be repeated: files that are already attached are left unchanged.
      await persist(() => latest.current(sent.map((task) => task.id)), waits(sent));
      for (const task of sent) task.parts?.forget();
      tasks.current = tasks.current.filter((task) => !sent.includes(task));
    } catch (error) {
      for (const task of sent) {
        fail(task, error);
        if (error instanceof Failure && error.code === 'NOT_FOUND') task.id = ''; // it has expired
      }
    }
    finishing.current = false;
    update();
    void finishSent();
  };
  const next = () => {
    for (const task of inState('waiting').slice(0, Math.max(atOnce - inState('sending').length, 0))) void run(task);
    void finishSent();
  };

  const add = (files: Iterable<File>) => {
    for (const file of files) tasks.current = [...tasks.current, { key: ++keys, file, fraction: 0, state: 'waiting', fault: '', stop: new AbortController(), id: '' }];
    next();
    update();
  };
  const remove = (task: Task) => {
    task.stop.abort();
    task.parts?.stop(true);
    tasks.current = tasks.current.filter((one) => one !== task);
    update();
    next();
  };
  const retry = (task: Task) => {
    // A file that has been sent is not sent again, because it could then be stored twice.
    Object.assign(task, task.id ? { state: 'sent', fault: '' } : { state: 'waiting', fraction: 0, fault: '', stop: new AbortController() });
    update();
    next();
  };

  const pause = (task: Task) => {
    task.state = 'paused';
    task.fault = '';
    task.stop.abort();
    update();
    next();
  };

  useUnsaved(() => tasks.current.some((task) => !task.isRefused), t.leaveUploads);
  useEffect(() => () => tasks.current.forEach((task) => task.stop.abort()), []);
  return { tasks: tasks.current, add, remove, retry, pause };
}
