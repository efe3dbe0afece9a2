// A cache of query results, by operation and variables. A page that is visited again immediately shows the cached results, and repeats the
// query if they may have changed.
import { useEffect, useReducer } from 'preact/hooks';
import type { Operation } from './generated';
import { Failure, send } from './graphql';

type Entry = {
  data?: unknown; // of the first page if it is a list
  list?: Pages; // if more than the first page is loaded, or the user has changed the list
  error?: Failure;
  asked?: Promise<void>;
  again?: boolean;
  more?: Promise<void>; // the request for the next page
  moreError?: Failure;
  changes: number; // of data and list; a response to an older request does not contain them
  at: number; // the time of data, or 0 if it is missing or may have changed
};

type Pages = Part<unknown> & { number: number };

/** Loads the data of an entry again, and as many pages of its list as are loaded. */
type Load = (entry: Entry) => Promise<{ data: unknown; list?: Pages }>;

const entries = new Map<string, Entry>();
const watchers = new Set<() => void>();
const freshFor = 60_000; // milliseconds
const maxEntries = 200;
const maxPages = 10; // of a list that are loaded again

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
  const entry = entries.get(key) ?? { at: 0, changes: 0 };
  entries.delete(key);
  entries.set(key, entry); // the last one, so that those on the page are not removed
  if (entries.size > maxEntries) entries.delete(entries.keys().next().value!);
  return entry;
}

const failureOf = (error: unknown) => (error instanceof Failure ? error : new Failure(String(error), 'INTERNAL'));

function ask(load: Load, entry: Entry) {
  if (entry.asked) return;
  const before = mutations;
  const { changes } = entry;
  entry.asked = load(entry)
    .then(({ data, list }) => {
      if (entry.changes === changes) Object.assign(entry, { data, list, error: undefined, changes: changes + 1 });
      else entry.again = true;
    })
    .catch((error) => {
      entry.error = failureOf(error);
    })
    .finally(() => {
      entry.asked = undefined;
      entry.at = mutations === before && !entry.error ? Date.now() : 0; // the response may not contain the latest change
      if (entry.again) {
        entry.again = false;
        ask(load, entry);
      }
      notify();
    });
}

/** Repeats the query, even if it is in progress: that response may be older than a change by the user. */
function askAgain(load: Load, entry: Entry) {
  if (entry.asked) entry.again = true;
  else ask(load, entry);
}

// The server writes the result of the first query into the page.
const written = document.getElementById('answer')?.textContent;
if (written) {
  const { operation, variables, data } = JSON.parse(written) as { operation: string; variables: object; data: unknown };
  entries.set(keyOf(operation, variables), { data, at: Date.now(), changes: 0 });
}

/** The key of a query, independent of the order of its variables. Null variables count as missing. */
function keyOf(operation: string, variables: object): string {
  return operation + JSON.stringify(Object.entries(variables).filter(([, value]) => value != null).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export type Result<D> = { data?: D; error?: Failure; loading: boolean; reload: () => void; change: (to: D) => void };

/** Queries an operation. If variables is null, nothing is queried. */
export function useQuery<D, V>(operation: Operation<D, V>, variables: V | null): Result<D> {
  return useEntry<D>(operation.name, variables as object | null, async () => ({ data: await send(operation, variables as V) }))[0];
}

function useEntry<D>(operation: string, variables: object | null, load: Load): [Result<D>, Entry] {
  useCache();
  const key = variables === null ? '' : keyOf(operation, variables);
  const entry: Entry = key ? entryOf(key) : { at: 0, changes: 0 };
  useEffect(() => {
    if (key && Date.now() - entry.at > freshFor) ask(load, entry);
  }, [key, entry]); // not each time the entry changes: a failed query is repeated only if the user asks for it
  const { data, error } = entry;
  const result = {
    data: data as D | undefined,
    error,
    loading: data === undefined && error === undefined,
    reload: () => askAgain(load, entry),
    change: (to: D) => {
      entry.data = to;
      entry.changes++;
      notify();
    },
  };
  return [result, entry];
}

/** A page of a list: a connection of the schema. */
export type Part<N> = { nodes: N[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

/** A list of which more can be loaded. */
export type Growing<N> = { nodes: N[]; hasMore: boolean; loadingMore: boolean; moreError?: unknown; loadMore: () => void };

export type List<D, N> = Result<D> & Growing<N> & { update: (change: (nodes: N[]) => N[]) => void };

/** Queries a list page by page. pick returns the connection in the data of the operation. */
export function useList<D, V extends { after?: string | null }, N>(operation: Operation<D, V>, variables: V | null, pick: (data: D) => Part<N> | null | undefined): List<D, N> {
  const next = async (part: Part<N>) => pick(await send(operation, { ...variables, after: part.pageInfo.endCursor } as V));
  const joined = (part: Part<N>, more: Part<N>, number: number) => ({ nodes: [...part.nodes, ...more.nodes], pageInfo: more.pageInfo, number });
  const [result, entry] = useEntry<D>(operation.name, variables, async (entry) => {
    const data = await send(operation, variables as V);
    const wanted = Math.min(entry.list?.number ?? 1, maxPages);
    let list: (Part<N> & { number: number }) | undefined;
    for (let number = 2; number <= wanted; number++) {
      const before = list ?? pick(data);
      const more = before?.pageInfo.hasNextPage && (await next(before));
      if (!more) break;
      list = joined(before, more, number);
    }
    return { data, list };
  });
  const current = () => (entry.list as (Part<N> & { number: number }) | undefined) ?? (entry.data ? pick(entry.data as D) : undefined);
  const set = (list: Pages) => {
    entry.list = list;
    entry.changes++;
    notify();
  };
  const numberOf = () => entry.list?.number ?? 1;
  const loadMore = async (): Promise<void> => {
    await entry.asked; // the cursor of the list may change
    const last = current();
    const { changes } = entry;
    if (!last?.pageInfo.hasNextPage) return;
    const more = await next(last);
    if (entry.changes !== changes) return loadMore();
    if (more) set(joined(last, more, numberOf() + 1));
  };
  const list = current();
  return {
    ...result,
    nodes: list?.nodes ?? [],
    hasMore: list?.pageInfo.hasNextPage ?? false,
    loadingMore: entry.more !== undefined,
    moreError: entry.moreError,
    loadMore: () => {
      if (entry.more) return;
      entry.moreError = undefined;
      entry.more = loadMore()
        .catch((error) => {
          entry.moreError = failureOf(error);
        })
        .finally(() => {
          entry.more = undefined;
          notify();
        });
      notify();
    },
    // The list is queried again when it is shown the next time. A response that is under way is ignored, because it may be older. The change
    // gets the latest nodes: those of a rendering may be older if it follows a request.
    update: (change) => {
      const last = current();
      if (last) set({ nodes: change(last.nodes), pageInfo: last.pageInfo, number: numberOf() });
      else result.reload();
    },
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
  for (const entry of entries.values()) entry.at = 0;
}

// Recent changes by the user that cached lists may not contain: likes and follows, by object.
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
