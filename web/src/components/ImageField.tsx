import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { mutate } from '../cache';
import { holdFocus } from '../focus';
import { updateProfile, uploadFile } from '../generated';
import { persist, upload } from '../graphql';
import { pictureHint, prepared } from '../prepare';
import { t } from '../strings';
import { Icon } from './Icon';
import { say } from './Toast';

/** The avatar or the cover of the user, which can be replaced and removed. */
export function ImageField({ label, url, field, onDone }: { label: string; url: string | null; field: 'avatarId' | 'coverId'; onDone: () => void }) {
  const [busy, setBusy] = useState(false);
  const [waiting, setWaiting] = useState<ComponentChildren>(); // why it waits
  const put = async (chosen: File | null) => {
    const release = holdFocus();
    setBusy(true);
    try {
      const file = chosen && (await prepared(chosen));
      const id = file && (await persist(() => upload(uploadFile, { input: { file: null } }, file, () => setWaiting(''), new AbortController().signal), setWaiting)).uploadFile!.file.id;
      await persist(() => mutate(updateProfile, { input: { [field]: id } }), setWaiting);
      onDone();
    } catch (error) {
      say(error);
    } finally {
      setBusy(false);
      setWaiting('');
      release();
    }
  };
  return (
    <div class="field image-field" aria-busy={busy ? 'true' : undefined}>
      <span>{label}</span>
      {url ? <img src={url} alt="" /> : <span class="file-icon"><Icon name="image" /></span>}
      <small>{pictureHint()}</small>
      <small role="status">{waiting}</small>
      <div class="actions">
        <label class="button">{t.change}<input class="unseen" type="file" accept="image/png,image/jpeg,image/gif" disabled={busy} aria-label={`${t.change}: ${label}`} onChange={(event) => {
          const input = event.currentTarget;
          const file = input.files?.[0];
          if (file) void put(file);
          input.value = ''; // the same file can be chosen again
        }} /></label>
        {url && <button type="button" class="button" disabled={busy} aria-label={`${t.remove}: ${label}`} onClick={() => void put(null)}>{t.remove}</button>}
      </div>
    </div>
  );
}
