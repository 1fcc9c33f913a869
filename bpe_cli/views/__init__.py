"""Show reports: as rich renderables for people, as plain JSON values for programs. Nothing is computed here.

- ``colored.TokenView(segmentation)``: a text token by token, in colour or with bars between tokens.
- ``tables.vocabulary_view(report)`` and ``tables.comparison_view(comparison)``.
- ``json_form.to_json(report)``: any of them as JSON.
- ``writer.Folded(text)``: one line in which every space counts.
- ``visible.harmless(name)``: a name from outside, such that it cannot move the cursor.
"""
