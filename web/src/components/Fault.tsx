import { explain } from './Toast';

/** The error of a form, except what the fields in known show themselves. */
export function Fault({ failure, known }: { failure: unknown; known?: string[] }) {
  const text = failure === undefined ? '' : explain(failure, known);
  return text ? <p class="fault" role="alert">{text}</p> : null;
}
