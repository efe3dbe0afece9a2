// The parts of the gallery that few visitors use. They are a script of their own, which is loaded when one of them is opened. It uses the
// modules of this script, so that both have the same session, cache and renderer.
import { Fragment, type ComponentChildren, type FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { jsx, jsxs } from 'preact/jsx-runtime';
import { useQuery } from './cache';
import { Dialog } from './components/Dialog';
import { Icon } from './components/Icon';
import { Menu } from './components/Menu';
import { explain, say } from './components/Toast';
import { config } from './config';
import { millimeters } from './format';
import { Failure, send } from './graphql';
import { functions, t } from './strings';
import { openDownload } from './unsaved';

declare const PRINTING: string; // the path of the script, which the build inserts
type Parts = typeof import('./printing');

let loads = 0; // a browser does not try the same URL again
export const loadPrinting = (): Promise<Parts> => {
  (globalThis as { meshyard?: object }).meshyard ??= {
    Fragment, jsx, jsxs, useEffect, useRef, useState, useQuery, Dialog, Icon, Menu, explain, say, config, millimeters, send, functions, t, openDownload,
  };
  return import(new URL(`../${PRINTING}${loads++ ? `?${loads}` : ''}`, import.meta.url).href);
};

type Props<P> = { part: (parts: Parts) => FunctionComponent<P>; label: string; kind?: string; title?: string; children: ComponentChildren; replaced?: boolean; onShow?: () => void } & Omit<P, 'onClose'>;

/** A button that loads a part, and shows it: in its own place if it is to be replaced, otherwise beside it until the part closes. */
export function OnDemand<P extends { onClose?: () => void }>({ part, label, kind = 'button', title, children, replaced, onShow, ...props }: Props<P>) {
  const [Part, setPart] = useState<FunctionComponent<P>>();
  const [busy, setBusy] = useState(false);
  const shown = Part && <Part {...(props as unknown as P)} onClose={() => setPart(undefined)} />;
  if (shown && replaced) return shown;
  return (
    <>
      <button type="button" class={kind} aria-label={label} title={title} aria-busy={busy} onClick={async () => {
        if (busy) return;
        setBusy(true);
        try {
          const found = part(await loadPrinting());
          setPart(() => found);
          onShow?.();
        } catch (error) {
          say(error instanceof TypeError ? new Failure('', 'OFFLINE') : error);
        }
        setBusy(false);
      }}>{children}</button>
      {shown}
    </>
  );
}
