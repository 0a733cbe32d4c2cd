// Builds one HTML file with everything in it: the page is opened from disk, where a browser
// refuses module scripts from other files.
import { defineConfig, type Plugin } from 'vite';

const inline = (): Plugin => ({
  name: 'tcplab-inline',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const page = bundle['index.html'];
    if (page?.type !== 'asset') throw new Error('no index.html in the build');
    let html = String(page.source);
    for (const [name, part] of Object.entries(bundle)) {
      const file = name.replaceAll('.', '\\.');
      if (part.type === 'chunk') {
        // A closing tag inside a script or style would end it.
        const code = part.code.replaceAll('</script', '<\\/script');
        html = html.replace(
          new RegExp(`<script[^>]*src="[^"]*${file}"[^>]*></script>`),
          () => `<script type="module">${code}</script>`,
        );
      } else if (name.endsWith('.css')) {
        const css = String(part.source).replaceAll('</style', '<\\/style');
        html = html.replace(new RegExp(`<link[^>]*href="[^"]*${file}"[^>]*>`), () => `<style>${css}</style>`);
      } else {
        continue;
      }
      delete bundle[name];
    }
    if (/(src|href)="[^"#]*\.(js|css)"/.test(html)) throw new Error('the build still refers to other files');
    page.source = html;
  },
});

export default defineConfig({
  base: './',
  plugins: [inline()],
  build: {
    // Committed, and embedded by the crate `report`: who builds tcplab needs no Node.
    outDir: '../crates/report/page',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
