// The keys of unlisted things. Whoever came by a link with a key can see the thing, and what belongs to it, until the page is loaded again.
const parameter = 'key';
const maxKeys = 8; // that the server reads
const known = new Map<string, string>(); // by the id of the thing, with which a key begins

function learn() {
  for (const key of new URLSearchParams(location.search).getAll(parameter)) known.set(key.split('.')[0]!, key);
}

const queryOf = (keys: string[]) => (keys.length > 0 ? `?${new URLSearchParams(keys.map((key) => [parameter, key]))}` : '');

/** The query of a request with all known keys, or "". */
export function keys(): string {
  learn();
  return queryOf([...known.values()].slice(-maxKeys));
}

/** The query of a URL of a thing with its key, or "". */
export function keyOf(thing: string): string {
  learn();
  const key = known.get(thing);
  return queryOf(key === undefined ? [] : [key]);
}
