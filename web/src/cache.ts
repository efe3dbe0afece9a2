// A cache of query results, by operation and variables. A page that is visited again immediately shows the cached results, and repeats the
// query if they may have changed.
import { useEffect, useReducer } from 'preact/hooks';
import { Failure, send, type Operation } from './graphql';

type Entry = { data?: unknown; error?: Failure; asked?: Promise<void>; again?: boolean; stale: boolean; at: number };

const entries = new Map<string, Entry>();
const watchers = new Set<() => void>();
const freshFor = 60_000; // milliseconds
const maxEntries = 200;

let mutations = 0; // number of mutations that were sent

function notify() {
  for (const watcher of watchers) watcher();
}

/** Makes the component render again when the cache changes. */
export function useCache() {
  const [, render] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const watcher = () => render(0);
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
}

function entryOf(key: string): Entry {
  let entry = entries.get(key);
  if (!entry) {
    entry = { stale: true, at: 0 };
    entries.set(key, entry);
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value!);
  }
  return entry;
}

function ask<D, V>(operation: Operation<D, V>, variables: V, entry: Entry) {
  if (entry.asked) return;
  const before = mutations;
  entry.stale = false;
  entry.asked = send(operation, variables)
    .then((data) => {
      entry.data = data;
      entry.error = undefined;
    })
    .catch((error) => {
      entry.error = error instanceof Failure ? error : new Failure(String(error), 'INTERNAL');
    })
    .finally(() => {
      entry.asked = undefined;
      entry.at = mutations === before ? Date.now() : 0; // the response may not contain the latest change
      if (entry.again) {
        entry.again = false;
        ask(operation, variables, entry);
      }
      notify();
    });
}

/** Repeats the query, even if it is in progress: that response may be older than a change by the user. */
function askAgain<D, V>(operation: Operation<D, V>, variables: V, entry: Entry) {
  if (entry.asked) entry.again = true;
  else ask(operation, variables, entry);
}

// The server writes the result of the first query into the page.
const written = document.getElementById('answer')?.textContent;
if (written) {
  const { operation, variables, data } = JSON.parse(written) as { operation: string; variables: object; data: unknown };
  entries.set(keyOf(operation, variables), { data, stale: false, at: Date.now() });
}

/** The key of a query, independent of the order of its variables. Null variables count as missing. */
function keyOf(operation: string, variables: object): string {
  return operation + JSON.stringify(Object.entries(variables).filter(([, value]) => value != null).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export type Result<D> = { data?: D; error?: Failure; loading: boolean; reload: () => void; change: (to: D) => void };

/** Queries an operation. If variables is null, nothing is queried. */
export function useQuery<D, V>(operation: Operation<D, V>, variables: V | null): Result<D> {
  useCache();
  const key = variables === null ? '' : keyOf(operation.name, variables as object);
  const entry = key ? entryOf(key) : { stale: false, at: 0 };
  useEffect(() => {
    if (key && (entry.stale || Date.now() - entry.at > freshFor)) ask(operation, variables as V, entry);
  }, [key, entry.stale]);
  const { data, error } = entry as Entry;
  return {
    data: data as D | undefined,
    error,
    loading: data === undefined && error === undefined,
    reload: () => askAgain(operation, variables as V, entry),
    change: (to: D) => {
      (entry as Entry).data = to;
      notify();
    },
  };
}

/** A page of a list: a connection of the schema. */
export type Part<N> = { nodes: N[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

export type List<D, N> = Result<D> & { nodes: N[]; hasMore: boolean; loadingMore: boolean; loadMore: () => void; replace: (nodes: N[]) => void };

/** Queries a list page by page. pick returns the connection in the data of the operation. */
export function useList<D, V extends { after?: string | null }, N>(operation: Operation<D, V>, variables: V | null, pick: (data: D) => Part<N> | null | undefined): List<D, N> {
  const result = useQuery(operation, variables);
  const key = `more ${operation.name}${JSON.stringify(variables)}`;
  const more = entryOf(key);
  const first = result.data ? pick(result.data) : undefined;
  const later = more.data as Part<N> | undefined;
  const last = later ?? first;
  const set = (part: Part<N> | undefined) => {
    more.data = part;
    notify();
  };
  return {
    ...result,
    reload: () => {
      more.data = undefined;
      result.reload();
    },
    nodes: later?.nodes ?? first?.nodes ?? [],
    hasMore: last?.pageInfo.hasNextPage ?? false,
    loadingMore: more.asked !== undefined,
    loadMore: () => {
      if (more.asked || !last?.pageInfo.hasNextPage) return;
      more.asked = send(operation, { ...variables, after: last.pageInfo.endCursor } as V)
        .then((data) => {
          const part = pick(data);
          if (part) more.data = { nodes: [...last.nodes, ...part.nodes], pageInfo: part.pageInfo };
        })
        .catch(() => {
          // The button stays, so that the user can try again.
        })
        .finally(() => {
          more.asked = undefined;
          notify();
        });
      notify();
    },
    // If the query is in progress, its response may be older than the change.
    replace: (nodes) => (last ? set({ nodes, pageInfo: last.pageInfo }) : result.reload()),
  };
}

type DataOf<O> = O extends Operation<infer D, infer _> ? D : never;
type VariablesOf<O> = O extends Operation<infer _, infer V> ? V : never;

/** Sends a mutation. All cached queries are repeated when they are shown again. */
export async function mutate<O extends Operation<unknown, unknown>>(operation: O, variables: VariablesOf<O>): Promise<DataOf<O>> {
  try {
    return (await send(operation, variables as unknown)) as DataOf<O>;
  } finally {
    expire();
  }
}

export function expire() {
  mutations++;
  for (const [key, entry] of entries) if (!key.startsWith('more ')) entry.at = 0;
}

// Recent changes by the user that cached lists may not contain: likes, follows, collected things, by object.
const changes = new Map<string, unknown>();

/** A value of an object that the user can change in several places of a page, such as whether they like a thing. */
export function useShared<T>(key: string, initial: T): [T, (to: T) => void] {
  useCache();
  const set = (to: T) => {
    changes.set(key, to);
    notify();
  };
  return [changes.has(key) ? (changes.get(key) as T) : initial, set];
}
