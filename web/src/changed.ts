/**
 * The names of the controls of a form whose value is not the one that they were rendered with. A form that changes something sends only these,
 * so that it does not undo what was saved in another tab or by another program meanwhile.
 */
export function changed(form: HTMLFormElement): Set<string> {
  const lines = (text: string) => text.replace(/\r\n?/g, '\n'); // as controls do
  const differs = (element: Element) =>
    element instanceof HTMLSelectElement ? [...element.options].some((option) => option.selected !== option.defaultSelected)
    : element instanceof HTMLTextAreaElement ? lines(element.value) !== lines(element.defaultValue)
    : element instanceof HTMLInputElement && (element.type === 'checkbox' ? element.checked !== element.defaultChecked : element.value !== element.defaultValue);
  return new Set([...form.elements].filter(differs).map((element) => (element as HTMLInputElement).name));
}

/** The values whose names are in a set. */
export const only = <Values extends object>(values: Values, names: Set<string>) => Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name))) as Partial<Values>;
