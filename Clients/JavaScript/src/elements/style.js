// How the elements look. Pages turn the colours by custom properties.

const text = `
:host{display:block;color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif;
--text:var(--share-text,light-dark(#1c2733,#dde5ec));--back:var(--share-back,light-dark(#fff,#1d252d));
--line:var(--share-line,light-dark(#7d8894,#74808c));--act:var(--share-act,light-dark(#0a5c8f,#1f6f9f));
--link:var(--share-link,light-dark(#0a5c8f,#7cc4f0));--bad:var(--share-bad,light-dark(#a3211b,#ff9d94));
--risk:light-dark(#a3211b,#b3322b);--quiet:light-dark(#4a5763,#a9b6c1);
color:var(--text);background:var(--back)}
:host([hidden]){display:none}*{box-sizing:border-box}
h2{font-size:1.25rem;line-height:1.3;margin:0 0 .5rem;overflow-wrap:anywhere}
h3{font-size:1rem;margin:0 0 .25rem}h2:focus{outline:none}
section{margin-block-start:1.5rem}p{margin:.5rem 0;overflow-wrap:anywhere}.quiet{color:var(--quiet)}
fieldset{border:0;margin:0;padding:0;min-width:0}legend{font-weight:700;padding:0;margin:0}
label{display:block;margin:.5rem 0 .25rem}
.check{display:flex;gap:.6rem;align-items:center;min-height:2rem;margin:.25rem 0}
.check input{width:1.25rem;height:1.25rem;margin:0;flex:none;accent-color:var(--act)}
input[type=text],select{font:inherit;color:inherit;background:var(--back);width:100%;min-height:2.75rem;
padding:.4rem .7rem;border:1px solid var(--line);border-radius:.4rem}select{width:auto;max-width:100%}
button{font:inherit;min-height:2.75rem;padding:.5rem 1rem;border-radius:.4rem;cursor:pointer;
border:1px solid var(--line);background:transparent;color:var(--link);max-width:100%;overflow-wrap:anywhere}
button.act{background:var(--act);border-color:var(--act);color:#fff}
button.danger{background:var(--risk);border-color:var(--risk);color:#fff}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}.row>:first-child{flex:1 1 7rem;min-width:0}
form .row{margin-block-start:.5rem}form .row>:first-child{flex:none}
ul{list-style:none;margin:.25rem 0 0;padding:0}li{padding:.6rem 0;border-block-start:1px solid var(--line)}
li .name{font-weight:600;overflow-wrap:anywhere}li .quiet{display:block}
[role=alert]:not(:empty){color:var(--bad);font-weight:600;border-inline-start:.25rem solid var(--bad);
padding-inline-start:.75rem}[role=status]:empty,[role=alert]:empty{display:none}
[role=status]:not(:empty){border-inline-start:.25rem solid var(--act);padding-inline-start:.75rem}
[aria-invalid=true]{border:2px solid var(--bad)!important}
code{display:block;overflow-wrap:anywhere;user-select:all;font-size:.9rem;margin:.5rem 0}
summary{cursor:pointer;padding:.5rem 0;min-height:2rem}
svg{display:block;width:13rem;max-width:100%;height:auto;margin:.5rem 0}
.picture{display:block;max-height:8rem;max-width:100%;border-radius:.5rem;margin:0 0 .5rem}
dialog{color:var(--text);background:var(--back);border:1px solid var(--line);border-radius:.75rem;
max-width:min(24rem,calc(100vw - 1rem));padding:1.25rem}dialog::backdrop{background:rgb(0 0 0/.5)}
dialog .row>:first-child{flex:none}
@media(forced-colors:active){button{border:1px solid ButtonText}}
`;

let sheet;

/** Takes the style to a shadow root: as a sheet that a policy without styles allows. */
export function dress(root) {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
  }
  root.adoptedStyleSheets = [sheet];
}
