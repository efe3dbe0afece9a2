import { me } from '../config';
import { Failure } from '../graphql';
import { SignInAgain } from './SignInDialog';
import { explain } from './Toast';

/** The error of a form, except what the fields in known show themselves. */
export function Fault({ failure, known }: { failure: unknown; known?: string[] }) {
  const text = failure !== undefined && explain(failure, known);
  if (!text) return null;
  return <p class="fault" role="alert">{text} {me && failure instanceof Failure && failure.code === 'UNAUTHENTICATED' && <SignInAgain />}</p>;
}
