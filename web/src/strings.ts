// The texts of the page. The build replaces #strings by the file of the language for which it builds the script.
export { strings as t } from '#strings';
