// The texts of this script, which are not in the one that every visitor loads.
import { printing } from '#texts';
import { functions } from '../strings';

export const p = { ...printing.text, ...functions(printing.sentences) };
