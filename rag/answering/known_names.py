"""Names that are frequent enough to be known as names wherever they stand.

Names that are words of English or German too (Frank, Rose, Will; Müller stands where the miller would have an article)
are left out, or are in the list where German writes them without an article.
"""

from __future__ import annotations

_GIVEN = """
Aaron Adam Adrian Ahmed Aisha Alan Albert Alejandro Alex Alexander Alexandra Alfred Ali Alice Alicia Amanda Amelia Amir
Amy Ana Anders Andre Andrea Andreas Andrew Angela Anita Anja Anke Ann Anna Anne Annika Anthony Antje Anton Antonio
Arthur Astrid Axel Barbara Beate Ben Benjamin Bernd Bernhard Bettina Birgit Bjorn Boris Brian Brigitte Bruno Camilla
Carl Carla Carlos Carmen Caroline Catherine Charles Charlotte Chris Christian Christina Christine Christoph Christopher
Claire Clara Claudia Claus Clemens Cornelia Daniel Daniela Dave David Deborah Dennis Diana Diego Dieter Dirk Dmitri
Dominik Donald Dora Doris Dorothea Edith Eduard Edward Eileen Elena Elias Elisabeth Elizabeth Ella Ellen Elsa Emil
Emily Emma Erich Erik Erika Erwin Eugene Eva Evelyn Fabian Fatima Felix Fernando Finn Florian Franz Franziska Friedrich
Fritz Gabriel Gabriele George Georg Gerald Gerda Gerhard Gertrud Gisela Giovanni Gregor Greta Gudrun Guido Gunther
Gustav Hannah Hanna Hannes Hans Harald Harold Heike Heiko Heinrich Heinz Helen Helena Helene Helga Helmut Henrik Henry
Herbert Hermann Hilda Holger Horst Howard Hubert Hugo Ibrahim Ilse Ines Ingeborg Ingo Ingrid Irene Irina Isabel
Isabella Isaac Ivan Jacob Jakob James Jan Jana Jane Janet Jason Javier Jean Jeffrey Jennifer Jens Jeremy Jessica Joachim
Joan Joanna Jochen Johan Johann Johanna Johannes John Jonas Jonathan Jorge Jose Josef Joseph Juan Judith Julia Julian
Juliane Jürgen Kai Karen Karin Karl Karsten Katharina Katherine Kathrin Katja Keiko Kenji Kerstin Kevin Klara Klaus
Konrad Kurt Lara Larry Lars Laura Lea Lena Leo Leon Leonard Lily Lisa Lothar Louis Louise Lucas Lucia Ludwig Luis Luise
Lukas Lutz Magdalena Manfred Manuel Manuela Marco Marcus Margaret Maria Marie Mario Marion Markus Marta Martha Martin
Martina Mateo Mathias Matthew Matthias Maximilian Melanie Michael Michaela Miguel Mike Mohammed Monika Moritz Nadine
Nancy Natalie Nicholas Nicole Niklas Nina Nora Norbert Oliver Olivia Oskar Oscar Otto Patricia Patrick Paul Paula Pedro
Peter Petra Philip Philipp Rachel Rainer Ralf Ralph Ramon Raymond Rebecca Regina Reinhard Renate Ricardo Richard Rita
Robert Roberto Roger Roland Rolf Ronald Ruben Rudolf Rüdiger Ruth Ryan Sabine Sabrina Samuel Sandra Sara Sarah Sascha
Sebastian Sergei Sigrid Silke Silvia Simon Simone Sofia Sonja Sophia Sophie Stefan Stefanie Stephan Stephanie Stephen
Steve Steven Susan Susanne Sven Svenja Sylvia Takeshi Tamara Tanja Teresa Theodor Theresa Thomas Thorsten Tim Timothy
Tobias Tom Tomasz Torsten Uwe Ulrich Ulrike Ursula Valentina Vanessa Vera Veronika Victor Victoria Viktor Vincent
Vladimir Volker Walter Werner Wilhelm William Wolfgang Yuki Yusuf Yvonne
"""
_SURNAMES = """
Adams Allen Anderson Andersson Becker Brandt Braun Brown Campbell Carter Clark Davis Diaz Evans Ferrari Fernandez
Fischer Garcia Gonzalez Gupta Hahn Hansen Harris Hernandez Hoffmann Hofmann Huber Hughes Ivanov Jackson Jansen Jensen
Johansson Johnson Jones Kaufmann Khan Klein Koch Kowalski Kruger Krüger Kumar Lehmann Lewis Lopez Martinez Maier Mayer
Meier Meyer Miller Mitchell Moore Moreau Morris Müller Murphy Nelson Nguyen Nielsen Novak Olsen Patel Perez Peters
Petersen Richter Roberts Robinson Rodriguez Rossi Sanchez Schäfer Schmidt Schmitt Schmitz Schneider Schröder Schulz
Schulze Schuster Schwarz Scott Singh Smith Stewart Suzuki Tanaka Taylor Thompson Torres Turner Vogel Wagner Walker
Watanabe Weber Weiss Williams Wilson Wright Yamamoto Zimmermann
"""
_PLACES = """
Africa Afrika America Amerika Amsterdam Ankara Argentina Argentinien Asia Asien Athen Athens Australia Australien
Austria Österreich Bangkok Barcelona Basel Bayern Beijing Belgien Belgium Berlin Bern Bonn Bordeaux Boston Brasilien
Brazil Bremen Brussels Brüssel Budapest Cairo California Canada Chicago Chile China Cologne Copenhagen Dänemark Delhi
Denmark Dortmund Dresden Dublin Düsseldorf Edinburgh Egypt Ägypten England Europa Europe Finland Finnland Florence
Florida France Frankfurt Frankreich Freiburg Geneva Genf Germany Deutschland Graz Greece Griechenland Göttingen Hamburg
Hannover Heidelberg Helsinki Hesse Hessen Hungary Ungarn Iceland Island India Indien Indonesia Ireland Irland Israel
Istanbul Italien Italy Japan Jena Kanada Karlsruhe Kassel Kenia Kenya Kiel Köln Kopenhagen Korea Kyoto Leeds Leipzig
Lissabon Lisbon Liverpool London Lübeck Lyon Madrid Mailand Mainz Manchester Mannheim Marseille Melbourne Mexico Mexiko
Milan Moscow Moskau Munich München Münster Naples Neapel Netherlands Niederlande Norway Norwegen Nürnberg Osaka Oslo
Oxford Paris Peking Poland Polen Porto Portugal Potsdam Prag Prague Regensburg Riga Rom Rome Rostock Russia Russland
Saarbrücken Salzburg Schweden Schweiz Scotland Schottland Seoul Shanghai Singapore Singapur Spain Spanien Stockholm
Stuttgart Sweden Switzerland Sydney Texas Tokyo Tokio Toronto Turin Turkey Türkei Ukraine Vienna Wien Wales Warschau
Warsaw Washington Zürich Zurich
"""

KNOWN_NAMES = frozenset((_GIVEN + _SURNAMES + _PLACES).split())
"""Given names, surnames, cities and countries, in English and German."""
