/** The avatar of a user, beside their name and so without a text of its own. */
export function Avatar({ user, size = 'small' }: { user: { username: string; avatarUrl: string | null }; size?: 'small' | 'medium' | 'large' }) {
  if (user.avatarUrl) return <img class={`avatar ${size}`} src={user.avatarUrl} alt="" loading="lazy" width="32" height="32" />;
  // A tint by the name, so that people without a picture can be told apart.
  const tint = [...user.username].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 6;
  return <span class={`avatar ${size} tint${tint}`} aria-hidden="true">{user.username.slice(0, 1).toUpperCase()}</span>;
}
