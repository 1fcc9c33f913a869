"""Texts that would break out of a page, a picture or a terminal, if anybody let them."""

from __future__ import annotations

EVIL = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"' onmouseover='alert(3)' style='position:fixed' x=\"",
    "</style><style>*{display:none}</style>",
    "</title><svg onload=alert(4)>",
    "<!-- <script> <![CDATA[ ]]> -->",
    "&lt;b&gt;&#x3c;&amp;&notin",
    '<a id="t0-0" href="javascript:alert(5)" class="t0">1</a>',
    "<base href=//evil.example><link rel=stylesheet href=//evil.example/a.css>",
    "</div></section></main><plaintext>",
    "<iframe srcdoc='<script>parent.alert(6)</script>'></iframe>",
    "\u202eevil\u202c \u2066x\u2069 \u200f",
    "nul\0 \x01\x1b[31m \x7f \x85 \x9b2J\r\n\r\ufeff\ufffe\U0010ffff",
    "\u2028\u2029 ${alert(7)} `{{7*7}}`",
    "<noscript><p title='</noscript><img src=x onerror=alert(8)>'>",
)
