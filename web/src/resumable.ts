// Uploads that go on after an interruption, by the tus protocol. They are a script of their own, which the browser loads with the first large file.
import { defaultOptions, Upload, type DetailedError } from 'tus-js-client';

type Options = {
  endpoint: string;
  headers: Record<string, string>;
  of: string; // the user and the thing, so that nobody continues the upload of another one
  // The size of the parts, which proxies limit. The browser remembers what it has learned.
  limit: () => number;
  learn: (limit: number) => void;
  progress: (sent: number) => void;
};

/** The response to a request that failed; the status is 0 if there was none. */
export type Refused = { status: number; text: string; retryAfter: string | null };

export type Resumable = {
  /** Sends what the server lacks, and returns the ID of the file. It fails with Refused, and can be called again. */
  send: () => Promise<string>;
  /** Ends send, and also deletes the upload if asked to. */
  stop: (isDeleted: boolean) => void;
  /** Forgets an upload that is finalized. */
  forget: () => void;
};

const minLimit = 256 << 10;
const failuresBeforeHalving = 2; // a proxy may close the connection instead of responding
const sampleSize = 64 << 10;
const storage = defaultOptions.urlStorage;
const running = new Set<string>(); // fingerprints

/** Files of the same name and size may differ, and a changed file must not continue the upload of the earlier one. */
async function sample(file: File): Promise<string> {
  const starts = [0, Math.floor(file.size / 2), Math.max(file.size - sampleSize, 0)];
  let hash = 0x811c9dc5; // FNV-1a
  for (const start of starts) {
    for (const byte of new Uint8Array(await file.slice(start, start + sampleSize).arrayBuffer())) hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

const isDone = (status: number) => status >= 200 && status < 300;
const refused = (error: Partial<DetailedError>): Refused => {
  const response = error.originalResponse;
  return { status: response?.getStatus() ?? 0, text: response?.getBody() ?? '', retryAfter: response?.getHeader('Retry-After') ?? null };
};

export async function resumable(file: File, o: Options): Promise<Resumable> {
  const base = `${o.of}-${file.name}-${file.size}-${file.lastModified}-${await sample(file)}`;
  let key = base;
  for (let copy = 2; running.has(key); copy++) key = `${base}-${copy}`; // the same file twice
  running.add(key);

  let failures = 0;
  let accepted = -1;
  let settle: { resolve: (id: string) => void; reject: (error: unknown) => void };
  const upload = new Upload(file, {
    endpoint: o.endpoint, headers: o.headers, metadata: { filename: file.name }, retryDelays: null, fingerprint: () => Promise.resolve(key),
    onAfterResponse(request, response) {
      const status = response.getStatus();
      // tus-js-client would take any other refusal to mean that the upload does not exist.
      if (request.getMethod() === 'HEAD' && !isDone(status) && ![404, 410, 423].includes(status)) {
        throw Object.assign(new Error(), { originalResponse: response });
      }
      if (isDone(status)) accepted = Math.max(accepted, Number(response.getHeader('Upload-Offset')));
    },
    onProgress: o.progress,
    onSuccess: () => settle.resolve(upload.url!.slice(upload.url!.lastIndexOf('/') + 1)),
    onError(error) {
      const causing = (error as DetailedError).causingError as Partial<DetailedError> | null;
      const failure = refused(causing?.originalResponse ? causing : (error as Partial<DetailedError>));
      const isPart = (error as Partial<DetailedError>).originalRequest?.getMethod() === 'PATCH';
      const part = Math.min(upload.options.chunkSize!, file.size);
      const half = Math.max(Math.floor(part / 2), minLimit);
      // The server itself responds with JSON.
      const isTooLarge = isPart && failure.status === 413 && !failure.text.startsWith('{');
      if (isTooLarge && half < part) {
        o.learn(half);
        upload.options.chunkSize = half;
        upload.start();
        return;
      }
      if (isPart && failure.status === 0 && ++failures % failuresBeforeHalving === 0) upload.options.chunkSize = half;
      settle.reject(failure);
    },
  });

  return {
    async send() {
      const before = accepted;
      upload.options.chunkSize = Math.min(upload.options.chunkSize!, o.limit());
      if (!upload.url) {
        const earlier = await upload.findPreviousUploads();
        if (earlier[0]) upload.resumeFromPreviousUpload(earlier[0]);
      }
      try {
        return await new Promise<string>((resolve, reject) => {
          settle = { resolve, reject };
          upload.start();
        });
      } finally {
        if (accepted > before) failures = 0;
      }
    },
    stop(isDeleted) {
      running.delete(key);
      void upload.abort(isDeleted).catch(() => {}); // what is not deleted expires
      settle?.reject({ status: 0, text: '', retryAfter: null });
    },
    async forget() {
      running.delete(key);
      for (const one of await storage.findUploadsByFingerprint(key)) await storage.removeUpload(one.urlStorageKey);
    },
  };
}
