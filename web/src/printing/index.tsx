// The script for printing: it is loaded on demand, see ondemand.tsx.
export { MakeDialog } from './MakeDialog';
export { OpenIn } from './OpenIn';
export { PrintDetails } from './PrintDetails';
export { PrintSummary } from './PrintSummary';
export { SourceText } from './SourceText';
