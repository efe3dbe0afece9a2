/** The avatar of a user. It has no alternative text, because the name is beside it. */
export function Avatar({ user, size = 'small' }: { user: { username: string; avatarUrl: string | null }; size?: 'small' | 'medium' | 'large' }) {
  if (user.avatarUrl) return <img class={`avatar ${size}`} src={user.avatarUrl} alt="" loading="lazy" width="32" height="32" />;
  // The color depends on the name, to distinguish users without a picture.
  const tint = [...user.username].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 6;
  return <span class={`avatar ${size} tint${tint}`} aria-hidden="true">{user.username.slice(0, 1).toUpperCase()}</span>;
}
