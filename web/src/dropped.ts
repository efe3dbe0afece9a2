// Files that are dropped on a page, also those in folders.

// What operating systems store beside the files of a user.
const ignored = /^(\.|@eaDir$|__MACOSX$|Thumbs\.db$|desktop\.ini$)/i;

/** The dropped files, and all files in dropped folders. */
export async function dropped(data: DataTransfer | null): Promise<File[]> {
  // The items are gone after the first pause, but not their entries.
  const items = [...(data?.items ?? [])].filter((item) => item.kind === 'file').map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const lists = await Promise.all(items.map(({ entry, file }) => (entry?.isDirectory ? inside(entry as FileSystemDirectoryEntry) : file ? [file] : [])));
  return lists.flat();
}

async function inside(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const files: File[] = [];
  const reader = folder.createReader();
  for (;;) {
    // It returns a part of the entries at a time, and an empty list at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (entries.length === 0) return files;
    for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
      if (ignored.test(entry.name)) continue;
      if (entry.isDirectory) files.push(...(await inside(entry as FileSystemDirectoryEntry)));
      else files.push(...(await new Promise<File[]>((resolve) => (entry as FileSystemFileEntry).file((file) => resolve([file]), () => resolve([])))));
    }
  }
}
