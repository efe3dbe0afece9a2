// A GraphQL client over fetch: it sends an operation and returns its data, or throws a Failure.
import { h, type ComponentChildren } from 'preact';
import { base, me } from './config';
import { clock, count } from './format';
import type { Operation } from './generated';
import { keys } from './keys';
import { setSessionEnded } from './session';
import { t } from './strings';

/** The error of one input: an entry of extensions.fields, see docs/errors.md. */
export type Fault = { path: string[]; code: string; message: string; limit?: number };

export class Failure extends Error {
  constructor(message: string, readonly code: string, readonly faults: Fault[] = [], readonly retryAfter = 0) {
    super(message);
  }

  /** The message for an input, without its name, or "" if it has no error. */
  of(field: string): ComponentChildren {
    const fault = this.faults.find((one) => concerns(one, field));
    return fault ? messageOf(fault) : '';
  }

  /** The message in the language of the page, without the names of inputs and without what these fields show themselves. */
  explain(fields: string[] = []): ComponentChildren {
    if (this.faults.length === 0) return detailed((t.errors as Texts)[this.code], this.message);
    const others = this.faults.filter((fault) => !fields.some((field) => concerns(fault, field)));
    return others.length > 0 && others.map((fault) => [messageOf(fault), ' ']);
  }
}

/** Whether a fault is that of a field of a form, also if the field is a part of an input, such as a print setting. */
export function concerns(fault: Fault, field: string): boolean {
  if (fault.code === 'DESCRIPTION_REQUIRED') return field === 'description'; // its path is that of the thing
  return fault.path[0] === 'input' && fault.path.slice(1).includes(field);
}

/** The message of a fault without the name of its input. */
export const messageOf = (fault: Fault) => detailed((t.faults as Texts)[fault.code], fault.message, fault.limit);

type Texts = Partial<Record<string, string>>;

/** A text in which %s is the message of the server, which is in English, and %n a limit. */
function detailed(text = '%s', message: string, limit?: number): ComponentChildren {
  const [before, after] = text.replace('%n', () => count(limit ?? 0)).split('%s');
  return after === undefined ? before : [before, h('span', { lang: 'en' }, plain(message)), after];
}

/** A message of the server as a sentence without the name of an input: "name: must not be blank" becomes "Must not be blank." */
function plain(message: string): string {
  const text = message.replace(/^[\w.[\]]+: /, '');
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

type Answer = { data?: unknown; errors?: { message: string; extensions?: { code?: string; fields?: Fault[]; retryAfter?: number } }[] };

// The server accepts the session cookie only with this header, which pages of other origins cannot send, and only if the session is that of
// this user: another one may have signed in in another tab. An administrator can change the name, but not the ID.
export const headers: Record<string, string> = me ? { 'Meshyard-Session': `id:${me.id}` } : {};

export async function send<D, V>(operation: Operation<D, V>, variables: V, signal?: AbortSignal): Promise<D> {
  let response: Response;
  try {
    response = await fetch(`${base}/graphql${keys()}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ query: operation.text, operationName: operation.name, variables }),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure('', 'OFFLINE');
  }
  return read(response.status, await response.text(), response.headers.get('Retry-After'));
}

/** Sends a mutation whose variable input.file is a file, and reports the fraction that has been sent. */
export function upload<D, V>(operation: Operation<D, V>, variables: V, file: File, sent: (fraction: number) => void, signal: AbortSignal): Promise<D> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Failure('', 'ABORTED'));
    const form = new FormData();
    form.append('operations', JSON.stringify({ query: operation.text, operationName: operation.name, variables }));
    form.append('map', '{"0":["variables.input.file"]}');
    form.append('0', file);
    // fetch does not report progress.
    const request = new XMLHttpRequest();
    request.open('POST', `${base}/graphql${keys()}`);
    for (const [name, value] of Object.entries({ ...headers, Accept: 'application/json' })) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && sent(event.loaded / event.total);
    request.onerror = () => reject(new Failure('', 'OFFLINE'));
    request.onabort = () => reject(new Failure('', 'ABORTED'));
    request.onload = () => {
      try {
        resolve(read<D>(request.status, request.responseText, request.getResponseHeader('Retry-After')));
      } catch (error) {
        reject(error);
      }
    };
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}

// Errors after which a retry may succeed: the server is unreachable, is being restarted, or is busy.
const transient = ['OFFLINE', 'UNAVAILABLE', 'RATE_LIMITED'];
export const isTransient = (error: unknown): error is Failure => error instanceof Failure && transient.includes(error.code);
const maxAttempts = 7; // in about two minutes
const longestPause = 30; // seconds

/**
 * Runs an action, and retries it while the server is unreachable or busy; the action must be idempotent, or codes be those of errors after
 * which nothing has changed. It calls waits with the reason before each pause, and stops when the signal aborts. A pause for the rate limit
 * is as long as the server says, however often that happens.
 */
export async function persist<T>(action: () => Promise<T>, waits: (why: ComponentChildren) => void, signal?: AbortSignal, codes = transient): Promise<T> {
  for (let attempt = 1; ;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof Failure) || !codes.includes(error.code) || signal?.aborted) throw error;
      const isLimit = error.code === 'RATE_LIMITED' && error.retryAfter > 0;
      if (!isLimit && attempt++ === maxAttempts) throw error;
      const pause = (error.retryAfter || Math.min(2 ** (attempt - 1), longestPause)) * 1000;
      waits(isLimit ? t.waitsUntil(clock(Date.now() + pause)) : error.explain());
      await new Promise((done) => setTimeout(done, pause));
      if (signal?.aborted) throw error;
    }
  }
}

// The codes for the responses of a proxy in front of the server. The server itself always responds with JSON.
const ofProxy: Record<number, string> = { 413: 'PROXY_LIMIT', 429: 'RATE_LIMITED', 502: 'UNAVAILABLE', 503: 'UNAVAILABLE', 504: 'UNAVAILABLE' };

const ofPart: Record<number, string> = { 0: 'OFFLINE', 401: 'UNAUTHENTICATED', 404: 'UNAVAILABLE', 409: 'UNAVAILABLE', 413: 'TOO_LARGE', 423: 'UNAVAILABLE', 429: 'RATE_LIMITED', 503: 'UNAVAILABLE' };

/** The Failure for a response other than GraphQL to an upload in parts. After 404, 409 and 423, the next attempt asks how much has arrived. */
export function refusal(status: number, text: string, retryAfter: string | null): Failure {
  if (status === 401) setSessionEnded(true);
  let message = `HTTP ${status}`;
  let code = ofPart[status] ?? (status < 500 ? 'BAD_USER_INPUT' : 'INTERNAL');
  try {
    ({ message } = JSON.parse(text) as { message: string });
  } catch {
    code = ofProxy[status] ?? code;
  }
  return new Failure(message, code, [], Number(retryAfter) || 0);
}

function read<D>(status: number, text: string, retryAfter: string | null): D {
  let answer: Answer;
  try {
    answer = JSON.parse(text) as Answer;
  } catch {
    // The response of a proxy.
    throw new Failure(`HTTP ${status}`, ofProxy[status] ?? (status < 500 ? 'PROXY' : 'INTERNAL'), [], Number(retryAfter) || 0);
  }
  const first = answer.errors?.[0];
  if (first?.extensions?.code === 'UNAUTHENTICATED') setSessionEnded(true);
  if (first) throw new Failure(first.message, first.extensions?.code ?? 'INTERNAL', first.extensions?.fields, first.extensions?.retryAfter);
  return answer.data as D;
}
