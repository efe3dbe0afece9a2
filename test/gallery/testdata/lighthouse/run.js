// Runs Lighthouse, with its settings for a phone, on each URL of the arguments. It writes a line of JSON for each: the scores of the categories,
// those of audits that do not depend on the speed of the machine, the metrics, and what was found.
import { launch } from 'chrome-launcher';
import lighthouse from 'lighthouse';

const chrome = await launch({ chromePath: process.env.CHROMIUM, chromeFlags: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic'] });
try {
  for (const url of process.argv.slice(2)) {
    let lhr;
    // A busy machine may make the browser miss a deadline.
    for (let attempt = 0; attempt < 3 && (!lhr || lhr.runtimeError); attempt++) ({ lhr } = await lighthouse(url, { port: chrome.port, logLevel: 'error', onlyCategories: ['performance', 'accessibility', 'best-practices', 'seo'] }));
    const scores = Object.fromEntries(Object.values(lhr.categories).map(({ id, score }) => [id, Math.round((score ?? 0) * 100)]));
    const counted = new Set(Object.values(lhr.categories).flatMap(({ auditRefs }) => auditRefs.filter(({ weight }) => weight > 0).map(({ id }) => id)));
    const found = Object.values(lhr.audits).filter(({ id, score }) => counted.has(id) && score !== null && score < 0.9)
      .map(({ id, title, displayValue, details }) => `${id}: ${title} ${displayValue ?? ''} ${(details?.items ?? []).slice(0, 5).map(({ node, url, description }) => node?.snippet ?? url ?? description ?? '').join(' | ')}`);
    const score = (id) => Math.round((lhr.audits[id].score ?? 0) * 100);
    const audits = Object.fromEntries(['cumulative-layout-shift', 'uses-responsive-images'].map((id) => [id, score(id)]));
    const metrics = ['first-contentful-paint', 'largest-contentful-paint', 'total-blocking-time', 'speed-index'].map((id) => `${id} ${Math.round(lhr.audits[id].numericValue)} ms`).join(', ');
    console.log(JSON.stringify({ url, error: lhr.runtimeError?.message ?? '', scores, audits, metrics, found }));
  }
} finally {
  await chrome.kill();
}
