import type { ComponentChildren } from 'preact';

type Props = { label: string; hint?: string; fault?: ComponentChildren; id: string; children: ComponentChildren };

/** A control with its label and, below it, its error. The control has the id and is described by `${id}-fault`. */
export function Field({ label, hint, fault, id, children }: Props) {
  return (
    <div class={fault ? 'field faulty' : 'field'}>
      <label for={id}>{label}</label>
      {children}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {fault && <p class="fault" id={`${id}-fault`} role="alert">{fault}</p>}
    </div>
  );
}

/** The attributes that connect a control with its Field. Browsers ignore the id of a hint or an error that the field does not have. */
export const control = (id: string, fault: ComponentChildren) => ({ id, name: id, 'aria-invalid': fault ? ('true' as const) : undefined, 'aria-describedby': `${id}-hint ${id}-fault` });

/**
 * The attribute of the option that a <select> begins with. Unlike the attribute selected of Preact, it does not replace a choice of the user
 * when the page is rendered with new data.
 */
export const initially = (chosen: boolean) => ({ defaultSelected: chosen });
