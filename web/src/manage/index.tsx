// The script for managing things and users: it is loaded on demand, see ondemand.tsx.
export { LinkImport as Links } from './LinkImport';
export { ModerationPage } from './ModerationPage';
export { Problems } from './Problems';
export { Selection } from './Selection';
