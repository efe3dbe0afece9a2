// The parts of the gallery that few visitors use. They are a script of their own, which is loaded when one of them is opened. It uses the
// modules of this script, so that both have the same session, cache and renderer.
import { Fragment, type ComponentChildren, type FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { jsx, jsxs } from 'preact/jsx-runtime';
import { mutate, useList, useQuery } from './cache';
import { Avatar } from './components/Avatar';
import { CategoryOptions } from './components/CategoryOptions';
import { commentPath } from './components/Comments';
import { Dialog } from './components/Dialog';
import { Fault } from './components/Fault';
import { control, Field, initially } from './components/Field';
import { More } from './components/Grid';
import { Html } from './components/Html';
import { Icon } from './components/Icon';
import { licenseName } from './components/LicenseBox';
import { Menu } from './components/Menu';
import { Empty, ErrorNotice } from './components/Notice';
import { ReasonDialog } from './components/ReasonDialog';
import { Tabs } from './components/Tabs';
import { ThingCard } from './components/ThingCard';
import { explain, say } from './components/Toast';
import { config, isStaff, me } from './config';
import { maxFiles } from './files';
import { changeList, focusIn } from './focus';
import { ago, bytes, count, date, decimal, duration, isolated, millimeters, printingTime } from './format';
import { Failure, messageOf, persist, send, upload } from './graphql';
import { pictureHint, prepared } from './prepare';
import { href, navigate } from './router';
import { functions, t } from './strings';
import { useSubmission } from './submission';
import { useTitle } from './title';
import { openDownload } from './unsaved';

// The paths of the scripts, which the build inserts.
declare const PRINTING: string;
declare const MANAGE: string;
type Printing = typeof import('./printing');
type Manage = typeof import('./manage');

let loads = 0; // a browser does not try the same URL again
function load<Parts>(path: string): Promise<Parts> {
  (globalThis as { meshyard?: object }).meshyard ??= {
    Fragment, jsx, jsxs, useEffect, useRef, useState, useQuery, Dialog, Icon, Menu, explain, say, config, millimeters, send, functions, t, openDownload,
    mutate, useList, commentPath, More, Html, Empty, ErrorNotice, ReasonDialog, Tabs, me, isStaff, focusIn, changeList, ago, date, isolated, href, navigate, useTitle, Avatar, Field, control,
    Fault, useSubmission, ThingCard, CategoryOptions, licenseName, Failure, messageOf, count, initially, maxFiles, bytes, decimal, duration, printingTime, persist, upload, pictureHint, prepared,
  };
  return import(new URL(`../${path}${loads++ ? `?${loads}` : ''}`, import.meta.url).href);
}

const failed = (error: unknown) => (error instanceof TypeError ? new Failure('', 'OFFLINE') : error);

/** A part of the pages that are about managing things and users. It is loaded when it is shown. */
export function Managed<P extends object>({ part, ...props }: { part: (parts: Manage) => FunctionComponent<P> } & P) {
  const [Part, setPart] = useState<FunctionComponent<P>>();
  const [error, setError] = useState<unknown>();
  const show = () => load<Manage>(MANAGE).then((parts) => setPart(() => part(parts)), setError);
  useEffect(() => void show(), []);
  if (Part) return <Part {...(props as unknown as P)} />;
  return error ? <ErrorNotice error={failed(error) as Failure} retry={show} /> : <div class="page" aria-busy="true" />;
}

type Props<P> = { part: (parts: Printing) => FunctionComponent<P>; label: string; kind?: string; title?: string; children: ComponentChildren; replaced?: boolean; onShow?: () => void } & Omit<P, 'onClose'>;

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
          const found = part(await load<Printing>(PRINTING));
          setPart(() => found);
          onShow?.();
        } catch (error) {
          say(failed(error));
        }
        setBusy(false);
      }}>{children}</button>
      {shown}
    </>
  );
}

/** Shows a part, such as a dialog, as soon as it is loaded. It closes if that fails. */
export function Loaded<P extends { onClose?: () => void }>({ part, ...props }: { part: (parts: Printing) => FunctionComponent<P> } & P) {
  const [Part, setPart] = useState<FunctionComponent<P>>();
  useEffect(() => void load<Printing>(PRINTING).then((parts) => setPart(() => part(parts)), () => {
    say(new Failure('', 'OFFLINE'));
    props.onClose?.();
  }), []);
  return Part ? <Part {...(props as unknown as P)} /> : null;
}
