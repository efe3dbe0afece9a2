import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { holdFocus } from '../focus';
import { findThing, findThings } from '../generated';
import { send } from '../graphql';
import { href, match } from '../router';
import { t } from '../strings';
import { Icon } from './Icon';
import { explain } from './Toast';

export type Ancestor = { id: string; name: string; creator: { username: string } };

const pause = 250; // milliseconds after the last key, before the search starts

/** Returns the ID in the URL of a thing on this server or in its path, or the text if it is an ID, and "" for other texts. */
function idIn(text: string): string {
  if (/^\d+$/.test(text)) return text;
  try {
    const route = match(new URL(text, location.origin));
    return route?.page === 'thing' ? (route.parameters[0] ?? '') : '';
  } catch {
    return '';
  }
}

/** The things with an ID or a URL, or whose name matches. */
async function find(text: string): Promise<Ancestor[]> {
  const id = idIn(text);
  if (id) {
    const one = (await send(findThing, { id })).thing;
    return one ? [one] : [];
  }
  const { search } = await send(findThings, { query: text });
  return search?.nodes.flatMap((one) => (one.__typename === 'Thing' ? [one] : [])) ?? [];
}

/** The things that a thing is a remix of. They are found by URL, ID or name. */
export function AncestorField({ id, chosen, onChange, fault }: { id: string; chosen: Ancestor[]; onChange: (chosen: Ancestor[]) => void; fault: ComponentChildren }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<{ words: string; things: Ancestor[] }>();
  const [failure, setFailure] = useState<ComponentChildren>('');
  const words = text.trim();
  useEffect(() => {
    setFailure('');
    if (!words) return;
    let current = true;
    const timer = setTimeout(() => {
      find(words).then((things) => current && setFound({ words, things }), (error) => current && setFailure(explain(error)));
    }, pause);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [words]);
  const offered = found?.words !== words ? undefined : found.things.filter((one) => one.id !== id && !chosen.some((other) => other.id === one.id));
  const add = (one: Ancestor) => {
    onChange([...chosen, one]);
    setText('');
    document.getElementById('ancestorIds')!.focus();
  };
  return (
    <div class={fault ? 'field faulty' : 'field'}>
      <label for="ancestorIds">{t.remixOf}</label>
      {chosen.length > 0 && (
        <ul class="chosen-things">
          {chosen.map((one) => (
            <li key={one.id}>
              <span><a href={href(`/thing:${one.id}`)} target="_blank">{one.name}</a> <span class="quiet">{t.by} {one.creator.username}</span></span>
              <button type="button" class="button icon-only" aria-label={`${t.remove}: ${one.name}`} onClick={() => {
                holdFocus()();
                onChange(chosen.filter((other) => other !== one));
              }}><Icon name="close" /></button>
            </li>
          ))}
        </ul>
      )}
      <input id="ancestorIds" type="search" autocomplete="off" value={text} aria-describedby="ancestorIds-hint" onInput={(event) => {
        event.stopPropagation(); // the text itself is not saved
        setText(event.currentTarget.value);
      }} onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        event.preventDefault();
        if (offered?.[0]) add(offered[0]);
      }} />
      <small id="ancestorIds-hint">{t.ancestorsHint}</small>
      <div role="status">
        {offered && offered.length > 0 && (
          <ul class="found-things">{offered.map((one) => <li key={one.id}><button type="button" class="button" onClick={() => add(one)}><Icon name="plus" /><span>{one.name} <span class="quiet">{t.by} {one.creator.username}</span></span></button></li>)}</ul>
        )}
        {offered?.length === 0 && <p class="quiet">{t.nothingFound}</p>}
      </div>
      {(failure || fault) && <p class="fault" role="alert">{failure || fault}</p>}
    </div>
  );
}
