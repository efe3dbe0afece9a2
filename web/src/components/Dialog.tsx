import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../strings';
import { useUnsaved } from '../unsaved';
import { Icon } from './Icon';
import { raise } from './Toast';

/** Whether the user has changed a control of a form. */
function isChanged(control: Element): boolean {
  if (control instanceof HTMLInputElement) {
    if (control.type === 'file') return control.files!.length > 0;
    if (control.type === 'checkbox' || control.type === 'radio') return control.checked !== control.defaultChecked;
    return control.value !== control.defaultValue;
  }
  if (control instanceof HTMLSelectElement) return [...control.options].some((option) => option.selected !== option.defaultSelected);
  return control instanceof HTMLTextAreaElement && control.value !== control.defaultValue;
}

type Props = { title: string; changed?: boolean; onClose: () => void; children: ComponentChildren };

/** A modal dialog, which is open as long as it is rendered. It does not lose the input of its forms, or what changed stands for, unless the user agrees. */
export function Dialog({ title, changed = false, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const pressed = useRef(false); // whether the mouse button was pressed outside of the dialog, so that a text selection that ends there does not close it
  const hasInput = () => changed || [...(dialog.current?.querySelectorAll('form') ?? [])].some((form) => [...form.elements].some(isChanged));
  const mayClose = () => !hasInput() || confirm(t.discardInput);
  useUnsaved(hasInput);
  useEffect(() => {
    const element = dialog.current!;
    element.showModal();
    if (!element.querySelector('[autofocus]')) heading.current!.focus(); // not the button to close
    raise();
    return () => element.close();
  }, []);
  return (
    // The close event of the cleanup follows after the dialog is removed, when another one may be open already.
    <dialog ref={dialog} aria-label={title} onClose={() => dialog.current && onClose()}
      onCancel={(event) => event.target === dialog.current && !mayClose() && event.preventDefault()}
      onPointerDown={(event) => void (pressed.current = event.target === dialog.current)}
      onClick={(event) => event.target === dialog.current && pressed.current && !hasInput() && onClose()}>
      <div class="dialog">
        <header>
          <h2 ref={heading} tabIndex={-1}>{title}</h2>
          <button type="button" class="button icon-only quiet-button" aria-label={t.close} onClick={() => mayClose() && onClose()}><Icon name="close" /></button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
