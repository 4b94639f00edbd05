extension HTMLReport {
  /// The template, a Mustache document over ``HTMLPage``.
  static let source = #"""
    {{% CONTENT_TYPE:REPORT}}
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <meta name="generator" content="engage-batch">
    <title>{{job}} - engage-batch</title>
    <style>
    :root {
      color-scheme: light dark;
      --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5c6878; --line: #dfe4ea;
      --accent: #2a6fdb; --bar: #cfe0fa; --good: #17704a; --good-bg: #e0f3ea; --warn: #8a4b00; --warn-bg: #fdf0dc;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #12161c; --card: #1a2029; --ink: #e6eaf0; --soft: #98a4b5; --line: #2c3542;
        --accent: #7aaef8; --bar: #27405f; --good: #7fd6ac; --good-bg: #16352a; --warn: #f2bd74; --warn-bg: #3a2a13;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--page); color: var(--ink);
      font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
    main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
    header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .75rem; margin-bottom: 1rem; }
    h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; }
    h2 { font-size: 1.05rem; margin: 0 0 .75rem; }
    h3 { font-size: .95rem; margin: 1rem 0 .35rem; }
    .badge { border-radius: 1rem; padding: .1rem .7rem; font-size: .85rem; font-weight: 600; background: var(--bar); }
    .good { color: var(--good); } .badge.good { background: var(--good-bg); }
    .attention { color: var(--warn); } .badge.attention { background: var(--warn-bg); }
    .tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
    .tile, section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
    .tile { flex: 1 1 7rem; padding: .7rem .9rem; }
    .tile b { display: block; font-size: 1.5rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
    .tile span, .soft { color: var(--soft); font-size: .85rem; }
    .columns { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: .75rem; }
    section { padding: 1rem 1.1rem; margin: .75rem 0 0; overflow-x: auto; }
    .columns section { flex: 1 1 20rem; margin: 0; }
    .todo { border-left: 4px solid var(--warn); }
    .todo li { margin: .25rem 0; overflow-wrap: anywhere; }
    table { border-collapse: collapse; width: 100%; }
    th { text-align: left; font-weight: 600; color: var(--soft); font-size: .8rem; }
    th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
    tr:last-child td { border-bottom: 0; }
    .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    .wide { width: 35%; }
    .bar { height: .6rem; margin-top: .45rem; border-radius: .3rem; background: var(--bar); }
    code { font: .85em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; }
    dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
    ul, ol { margin: 0; padding-left: 1.2rem; }
    footer { margin-top: 1.5rem; color: var(--soft); font-size: .85rem; }
    </style>
    </head>
    <body>
    <main>
    <header><h1>{{job}}</h1><span class="badge {{tone}}">{{ending}}</span></header>
    {{#failure}}
    <p class="attention">{{.}}</p>
    {{/failure}}
    <div class="tiles">
    {{#tiles}}
    <div class="tile"><b class="{{tone}}">{{figure}}</b><span>{{label}}</span></div>
    {{/tiles}}
    </div>
    {{^empty(steps)}}
    <section class="todo"><h2>To do</h2><ul>
    {{#steps}}
    <li>{{.}}</li>
    {{/steps}}
    </ul></section>
    {{/empty(steps)}}
    <div class="columns">
    {{^empty(events)}}
    <section><h2>Events by type</h2><table>
    {{#events}}
    <tr><td><code>{{name}}</code> {{note}}</td><td class="wide"><div class="bar" style="width:{{share}}%"></div></td><td class="number">{{figure}}</td></tr>
    {{/events}}
    </table></section>
    {{/empty(events)}}
    {{^empty(store)}}
    <section><h2>Events in the store</h2><table>
    {{#store}}
    <tr><td><code>{{name}}</code></td><td class="wide"><div class="bar" style="width:{{share}}%"></div></td><td class="number">{{figure}}</td></tr>
    {{/store}}
    </table></section>
    {{/empty(store)}}
    <section><h2>Upload</h2><table>
    {{#uploads}}
    <tr><td>{{name}}</td><td class="number">{{figure}}</td></tr>
    {{/uploads}}
    </table></section>
    <section><h2>Sessions and campaigns</h2><table>
    {{#others}}
    <tr><td>{{name}}</td><td class="number">{{figure}}</td></tr>
    {{/others}}
    </table></section>
    {{^empty(identities)}}
    <section><h2>Identity</h2><table>
    {{#identities}}
    <tr><td>{{name}}</td><td class="number">{{figure}}</td></tr>
    {{/identities}}
    </table></section>
    {{/empty(identities)}}
    {{^empty(stages)}}
    <section><h2>Time</h2><table>
    {{#stages}}
    <tr><td>{{name}}</td><td class="wide"><div class="bar" style="width:{{share}}%"></div></td><td class="number">{{figure}}</td></tr>
    {{/stages}}
    </table></section>
    {{/empty(stages)}}
    </div>
    {{^empty(reasons)}}
    <section><h2>Quarantine</h2><table>
    {{#reasons}}
    <tr><td><code>{{name}}</code></td><td class="wide"><div class="bar" style="width:{{share}}%"></div></td><td class="number">{{figure}}</td></tr>
    {{/reasons}}
    </table>
    {{#quarantineTitle}}
    <h3>{{.}}</h3>
    {{/quarantineTitle}}
    {{^empty(quarantine)}}
    <table><tr><th>place</th><th class="number">offset</th><th>reason</th><th>detail</th></tr>
    {{#quarantine}}
    <tr><td><code>{{place}}</code>{{#content}}<br><code class="soft">{{.}}</code>{{/content}}</td><td class="number">{{offset}}</td><td><code>{{reason}}</code></td><td>{{detail}}</td></tr>
    {{/quarantine}}
    </table>
    {{/empty(quarantine)}}
    </section>
    {{/empty(reasons)}}
    {{^empty(warnings)}}
    <section><h2>Warnings</h2>
    {{#warnings}}
    <h3><code>{{kind}}</code> {{figure}}</h3>
    <table>
    {{#places}}
    <tr><td><code>{{place}}</code></td><td><code>{{device}}</code></td><td>{{detail}}</td></tr>
    {{/places}}
    </table>
    {{/warnings}}
    </section>
    {{/empty(warnings)}}
    {{^empty(merges)}}
    <section><h2>Identity plans</h2><table>
    <tr><th class="number">plan</th><th>scenario</th><th>state</th><th>device</th><th>from</th><th>to</th><th>reason</th></tr>
    {{#merges}}
    <tr><td class="number">{{plan}}</td><td>{{scenario}}</td><td class="{{tone}}">{{state}}</td><td><code>{{device}}</code></td><td><code>{{loser}}</code></td><td><code>{{winner}}</code></td><td>{{reason}}</td></tr>
    {{/merges}}
    </table></section>
    {{/empty(merges)}}
    {{#sections}}
    <section><h2>{{title}}</h2><table>
    <tr>{{#heads}}<th class="{{kind}}">{{text}}</th>{{/heads}}</tr>
    {{#rows}}
    <tr>{{#cells}}<td class="{{kind}}">{{text}}</td>{{/cells}}</tr>
    {{/rows}}
    </table></section>
    {{/sections}}
    {{^empty(fields)}}
    <section><h2>Fields that the format does not know</h2><table>
    {{#fields}}
    <tr><td><code>{{name}}</code></td><td class="number">{{figure}}</td></tr>
    {{/fields}}
    </table></section>
    {{/empty(fields)}}
    {{^empty(notes)}}
    <section><h2>Notes</h2><ul>
    {{#notes}}
    <li>{{.}}</li>
    {{/notes}}
    </ul></section>
    {{/empty(notes)}}
    <section><h2>This run</h2><dl>
    {{#facts}}
    <dt>{{name}}</dt><dd>{{value}}</dd>
    {{/facts}}
    </dl>
    {{^empty(layers)}}
    <h3>Configuration, later layers win</h3><ol>
    {{#layers}}
    <li><code>{{.}}</code></li>
    {{/layers}}
    </ol>
    {{/empty(layers)}}
    </section>
    <footer>{{privacy}}</footer>
    </main>
    </body>
    </html>

    """#
}
