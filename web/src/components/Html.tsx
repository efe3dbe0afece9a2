/** HTML that the server has sanitized, such as a description. */
export function Html({ html }: { html: string }) {
  return <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />;
}
