import { useEffect, useRef, useState } from 'preact/hooks';
import { suggestions } from '../generated';
import { send } from '../graphql';
import { href, navigate } from '../router';
import { t } from '../strings';
import { Icon } from './Icon';

const delay = 150; // milliseconds between the last key press and the request for suggestions

/** The search field with suggestions, a combobox as in the ARIA Authoring Practices Guide. The key / focuses it. */
export function SearchBox({ words }: { words: string }) {
  const [text, setText] = useState(words);
  const [names, setNames] = useState<string[]>([]);
  const [active, setActive] = useState(-1);
  const [open, setOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => setText(words), [words]);
  useEffect(() => {
    if (!open || text.trim().length < 2) return setNames([]);
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setNames((await send(suggestions, { query: text.slice(0, 200) }, stop.signal)).suggestions ?? []);
        setActive(-1);
      } catch {
        // Suggestions are optional, so errors are ignored.
      }
    }, delay);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, open]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || (event.target as Element).closest('input, textarea, select, [contenteditable]')) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);

  const search = (query: string) => {
    setText(query);
    setOpen(false);
    field.current?.blur();
    scrollTo(0, 0);
    navigate(query.trim() ? `/explore?q=${encodeURIComponent(query.trim())}` : '/explore');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOpen(false);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || names.length === 0) return;
    event.preventDefault();
    setActive((active + 1 + step + names.length + 1) % (names.length + 1) - 1);
  };
  const shown = open && names.length > 0;
  return (
    <form class="search" role="search" action={href('/explore')} onSubmit={(event) => {
      event.preventDefault();
      search(names[active] ?? text);
    }}>
      <Icon name="search" />
      <input ref={field} type="search" name="q" value={text} placeholder={t.searchPlaceholder} aria-label={t.search} autocomplete="off" maxLength={200}
        role="combobox" aria-expanded={shown} aria-controls="suggestions" aria-autocomplete="list" aria-activedescendant={active >= 0 ? `suggestion-${active}` : undefined}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(-1); // the suggestions are those of the text before
          setOpen(true);
        }}
        onKeyDown={onKeyDown} onBlur={() => setOpen(false)} />
      <kbd aria-hidden="true">/</kbd>
      <ul id="suggestions" role="listbox" aria-label={t.search} hidden={!shown}>
        {names.map((name, index) => (
          <li key={name} id={`suggestion-${index}`} role="option" aria-selected={index === active} onMouseDown={(event) => {
            event.preventDefault();
            search(name);
          }}>{name}</li>
        ))}
      </ul>
    </form>
  );
}
