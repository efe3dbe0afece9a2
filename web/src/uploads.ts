// Uploads of files, a few at a time, with their progress. Requests that fail because the server is unreachable or busy are retried.
import type { ComponentChildren } from 'preact';
import { useEffect, useReducer, useRef } from 'preact/hooks';
import { explain } from './components/Toast';
import { uploadFile } from './generated';
import { Failure, persist, upload } from './graphql';
import { prepared } from './prepare';
import { t } from './strings';
import { useUnsaved } from './unsaved';

const atOnce = 2;
const maxBatch = 10; // uploads that are finalized together
const refusals = ['BAD_FILE', 'BAD_USER_INPUT', 'TOO_LARGE', 'PROXY_LIMIT', 'UNREADABLE']; // errors of a file that remain when it is sent again

export type Task = { key: number; file: File; fraction: number; state: 'waiting' | 'sending' | 'sent' | 'failed'; fault: ComponentChildren; stop: AbortController; id: string; isRefused?: boolean };

let keys = 0;

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

/** Uploads of a component. finish is called with the ids of pending uploads, one call after the other. */
export function useUploads(finish: (ids: string[]) => Promise<void>) {
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
  const run = async (task: Task) => {
    task.state = 'sending';
    update();
    try {
      task.file = await prepared(task.file);
      await readable(task.file);
      const data = await persist(() => upload(uploadFile, { input: { file: null } }, task.file, (fraction) => {
        Object.assign(task, { fraction, fault: '' });
        update();
      }, task.stop.signal), waits([task]), task.stop.signal);
      task.id = data.uploadFile!.file.id;
      Object.assign(task, { state: 'sent', fault: '' });
    } catch (error) {
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

  useUnsaved(() => tasks.current.some((task) => !task.isRefused), t.leaveUploads);
  useEffect(() => () => tasks.current.forEach((task) => task.stop.abort()), []);
  return { tasks: tasks.current, add, remove, retry };
}
