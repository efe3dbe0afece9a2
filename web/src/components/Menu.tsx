import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

type Props = { label: string; button: ComponentChildren; children: ComponentChildren; kind?: string; open?: boolean; onOpen?: () => void };

/** A button that opens a menu below it. It closes on Escape, on a click outside, when the focus leaves it, and when an item is chosen. */
export function Menu({ label, button, children, kind = 'button icon-only quiet-button', open, onOpen }: Props) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const menu = details.current;
      if (!menu?.open) return;
      const inside = menu.contains(event.target as Node);
      if (event.type === 'focusin' ? inside : event instanceof KeyboardEvent ? event.key !== 'Escape' : inside && !(event.target as Element).closest('.menu-items a, .menu-items button')) return;
      if (inside) menu.querySelector('summary')!.focus(); // a dialog that an item opens gives the focus back to it
      menu.open = false;
    };
    document.addEventListener('click', close);
    document.addEventListener('keydown', close);
    document.addEventListener('focusin', close);
    return () => {
      document.removeEventListener('click', close);
      document.removeEventListener('keydown', close);
      document.removeEventListener('focusin', close);
    };
  }, []);
  return (
    <details ref={details} class="menu" open={open} onToggle={() => {
      if (!details.current!.open) return;
      details.current!.lastElementChild!.scrollIntoView({ block: 'nearest' });
      onOpen?.();
    }}>
      <summary class={kind} aria-label={label} title={label}>{button}</summary>
      <div class="menu-items">{children}</div>
    </details>
  );
}
