// The texts of the page, from the same files as those of the server: internal/web/language/texts. The build replaces #texts by the file of the
// language for which it builds the script. %s and %d are placeholders; %[1]s is the first value wherever it stands, and %% is a percent sign.
import { counts, sentences, text } from '#texts';
import { count } from './format';
import type { License, MeshFormat, ModerationAction, NoPreviewReason, ReportReason, SearchSort, SearchType } from './generated';

type Value = string | number;
type Sentences<T> = { [K in keyof T]: T[K] extends string ? (...values: Value[]) => string : Sentences<T[K]> };
type Counts = Record<keyof typeof counts, (n: number) => string>;

function fill(form: string, values: Value[]): string {
  let next = 0;
  return form.replace(/%(?:\[(\d)\])?([sd%])/g, (_, index, kind) => (kind === '%' ? '%' : String(values[index ? index - 1 : next++])));
}

/** Makes functions that fill placeholders. */
export const functions = <T extends object>(forms: T): Sentences<T> => Object.fromEntries(Object.entries(forms).map(([key, form]) =>
  [key, typeof form === 'string' ? (...values: Value[]) => fill(form, values) : functions(form)])) as Sentences<T>;

const sentence = functions(sentences);
const counted = Object.fromEntries(Object.entries(counts).map(([key, { one, other }]) =>
  [key, (n: number) => (n === 1 ? one : fill(other, [count(n)]))])) as Counts;

// The compiler reports a value of the schema without a text.
const named: {
  types: Record<SearchType, string>; sorts: Record<SearchSort, string>; licenses: Record<License, string>; formats: Record<MeshFormat, string>;
  reasons: Record<ReportReason, string>; actions: Record<ModerationAction, string>;
  noPreviewReasons: Record<NoPreviewReason, string>;
} = text;

// The reasons that the server records itself, in English.
const recorded: Partial<Record<string, string>> = {
  'Deleted by the REST API.': text.recorded.byRest,
  'By the operator, on the command line.': text.recorded.byOperator,
  'The OpenID provider decided the role at sign-in.': text.recorded.byProvider,
};

export const t = {
  ...text, ...named, ...sentence, ...counted,
  results: (n: number) => (n >= 10_000 ? text.manyResults : counted.results(n)),
  browserOn: (browser: string | null, system: string | null) => (browser && system ? sentence.browserOn(browser, system) : (browser ?? system ?? text.unknownBrowser)),
  notified: {
    ...text.notified, ...sentence.notified,
    PROCESSING_FAILED: (file: string, name: string) => (name ? sentence.notified.PROCESSING_FAILED_OF(file, name) : sentence.notified.PROCESSING_FAILED(file)),
  },
  /** The name of a category of a new server in the language of the page, or the given name of another category. */
  categoryName: ({ slug, name }: { slug: string; name: string }): string => (text.categories as Partial<Record<string, string>>)[slug] ?? name,
  recorded: (reason: string) => recorded[reason] ?? reason.replace(/^The name was (\S+)\.$/, text.recorded.nameWas),
};
