// Files are checked before they are uploaded. Pictures that exceed the limit of the server are made smaller.
import { config } from './config';
import { bytes } from './format';
import { Failure } from './graphql';
import { t } from './strings';

const limit = 5_000_000; // PictureLimit in internal/config
const longestSide = 4096; // of a picture that is made smaller
const quality = 0.9;

export const pictureHint = () => t.pictureHint(bytes(limit));

/** Returns the JPEG of a picture in a size that the server accepts. */
async function smaller(picture: ImageBitmap, name: string): Promise<File | undefined> {
  const canvas = document.createElement('canvas');
  for (let scale = Math.min(1, longestSide / Math.max(picture.width, picture.height)); scale > 0.05; scale *= 0.8) {
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    const context = canvas.getContext('2d')!;
    context.fillStyle = '#fff'; // JPEG has no transparency
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/jpeg', quality));
    if (blob && blob.size <= limit) return new File([blob], name.replace(/\.\w+$/, '.jpg'), { type: 'image/jpeg' });
  }
  return undefined;
}

async function preparedPicture(file: File): Promise<File> {
  let picture: ImageBitmap;
  try {
    picture = await createImageBitmap(file);
  } catch {
    throw new Failure(t.notAPicture(file.name), 'BAD_FILE');
  }
  try {
    if (file.size <= limit) return file;
    const small = /\.gif$/i.test(file.name) ? undefined : await smaller(picture, file.name);
    if (!small) throw new Failure(t.fileTooLarge(file.name, bytes(limit)), 'BAD_FILE');
    return small;
  } finally {
    picture.close();
  }
}

/**
 * Returns the file to upload: a smaller JPEG for a large picture other than GIF, and otherwise the file. It fails if a file is empty or too
 * large, or if a picture cannot be read. A server closes the connection if a file is too large, so the browser could not show its error.
 */
export async function prepared(file: File): Promise<File> {
  if (file.size === 0) throw new Failure(t.emptyFile(file.name), 'BAD_FILE');
  const ready = /\.(png|jpe?g|gif|webp|avif)$/i.test(file.name) ? await preparedPicture(file) : file;
  if (ready.size > config.uploadLimit) throw new Failure(t.fileTooLarge(file.name, bytes(config.uploadLimit)), 'BAD_FILE');
  return ready;
}
