// The script for printing: it is loaded on demand, see ondemand.tsx.
export { OpenIn } from './OpenIn';
export { PrintDetails } from './PrintDetails';
