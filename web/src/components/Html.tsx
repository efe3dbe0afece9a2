/** HTML that the server has sanitized, such as a description. */
export function Html({ html }: { html: string }) {
  return <div class="prose" dangerouslySetInnerHTML={{ __html: html }} />;
}
